"""Makes the folders beside it: small models of every quantization convention, with what they decode to.

Written from the description of the formats alone, without the program's own code, so that each checks the other. Wants
numpy; run it in this folder. Codes are packed by the rules, values are computed in float32 in the order of the original.
"""
import json, os, struct, numpy as np
F32 = np.float32
SIZE = {'F64': 8, 'F32': 4, 'F16': 2, 'BF16': 2, 'I64': 8, 'I32': 4, 'I16': 2, 'I8': 1, 'U8': 1, 'U32': 4, 'U16': 2, 'U64': 8, 'BOOL': 1, 'F8_E4M3': 1, 'F8_E5M2': 1, 'F8_E8M0': 1, 'F8_E4M3FNUZ': 1, 'F8_E5M2FNUZ': 1}


class T:

    def __init__(s, dtype, shape, data):
        s.dtype = dtype
        s.shape = list(shape)
        s.data = bytes(data)
        if dtype in SIZE:
            assert len(s.data) == int(np.prod(shape, dtype=np.int64)) * SIZE[dtype], (dtype, shape, len(s.data))


def _small(ebits, mbits, bias, kind):
    """All 256 values of a small float."""
    t = np.zeros(256, np.float64)
    for c in range(256):
        s = -1.0 if c >> 7 else 1.0
        e = c >> mbits & (1 << ebits) - 1
        m = c & (1 << mbits) - 1
        v = s * (2.0 ** (e - bias) * (1 + m / 2 ** mbits) if e else 2.0 ** (1 - bias) * m / 2 ** mbits)
        if kind == 'fn' and c & 127 == 127:
            v = np.nan
        if kind == 'ieee' and e == (1 << ebits) - 1:
            v = s * np.inf if m == 0 else np.nan
        if kind == 'fnuz' and c == 128:
            v = np.nan
        t[c] = v
    return t.astype(F32)
TAB = {'F8_E4M3': _small(4, 3, 7, 'fn'), 'F8_E5M2': _small(5, 2, 15, 'ieee'), 'F8_E4M3FNUZ': _small(4, 3, 8, 'fnuz'), 'F8_E5M2FNUZ': _small(5, 2, 16, 'fnuz')}
TAB['F8_E8M0'] = np.array([np.ldexp(1.0, b - 127) if b != 255 else np.nan for b in range(256)]).astype(F32)
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], F32)


def tensor_of(dtype, a):
    """a: float32 array -> (T, float32 array as stored)"""
    a = np.asarray(a, F32)
    if dtype == 'F32':
        return (T('F32', a.shape, a.tobytes()), a)
    if dtype == 'F16':
        h = a.astype(np.float16)
        return (T('F16', a.shape, h.tobytes()), h.astype(F32))
    if dtype == 'BF16':
        u = a.view(np.uint32) if a.ndim else a.reshape(1).view(np.uint32)
        u = (u.astype(np.uint64) + 32767 + (u >> 16 & 1) >> 16).astype(np.uint16).reshape(a.shape)
        return (T('BF16', a.shape, u.tobytes()), (u.astype(np.uint32) << 16).view(F32).reshape(a.shape) if a.ndim else (np.array([u], np.uint16).astype(np.uint32) << 16).view(F32)[0])
    if dtype in TAB:
        t = TAB[dtype]
        fin = np.where(np.isfinite(t), t, 1e+30)
        c = np.abs(fin[None, :] - a.reshape(-1, 1)).argmin(1).astype(np.uint8)
        return (T(dtype, a.shape, c.tobytes()), t[c].reshape(a.shape))
    raise KeyError(dtype)


def ints(dtype, a):
    """Integers as they are."""
    np_ = {'I64': np.int64, 'I32': np.int32, 'I16': np.int16, 'I8': np.int8, 'U8': np.uint8, 'U32': np.uint32, 'U16': np.uint16}[dtype]
    a = np.asarray(a)
    return T(dtype, a.shape, a.astype(np_).tobytes())


def text(s):
    """Text as bytes."""
    b = s.encode()
    return T('U8', [len(b)], b)


def write_file(path, tensors, meta=None):
    """One safetensors file."""
    h = {}
    off = 0
    body = []
    if meta:
        h['__metadata__'] = meta
    for n, t in tensors.items():
        h[n] = {'dtype': t.dtype, 'shape': t.shape, 'data_offsets': [off, off + len(t.data)]}
        off += len(t.data)
        body.append(t.data)
    j = json.dumps(h, ensure_ascii=False).encode()
    j += b' ' * (-len(j) % 8)
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(j)) + j + b''.join(body))


def write_folder(folder, tensors, configs=None, meta=None, shards=1):
    """A model folder, in several files where shards are asked for."""
    os.makedirs(folder, exist_ok=True)
    for f in os.listdir(folder):
        os.remove(os.path.join(folder, f))
    if shards == 1:
        write_file(folder + '/model.safetensors', tensors, meta)
    else:
        parts = [{} for _ in range(shards)]
        wm = {}
        for i, (n, t) in enumerate(tensors.items()):
            parts[i % shards][n] = t
            wm[n] = 'model-%05d-of-%05d.safetensors' % (i % shards + 1, shards)
        for i, p in enumerate(parts):
            write_file(folder + '/model-%05d-of-%05d.safetensors' % (i + 1, shards), p, meta)
        json.dump({'metadata': {}, 'weight_map': wm}, open(folder + '/model.safetensors.index.json', 'w'))
    for n, c in (configs or {}).items():
        open(folder + '/' + n, 'w').write(c if isinstance(c, str) else json.dumps(c))


def stream(codes, bits):
    """codes [..., n] -> bytes-as-words uint32 [..., ceil(n*bits/32)], dense little endian"""
    codes = np.asarray(codes, np.uint32)
    n = codes.shape[-1]
    b = (codes[..., None] >> np.arange(bits, dtype=np.uint32) & 1).astype(np.uint8).reshape(codes.shape[:-1] + (n * bits,))
    pad = -(n * bits) % 32
    if pad:
        b = np.concatenate([b, np.zeros(b.shape[:-1] + (pad,), np.uint8)], -1)
    return np.packbits(b, axis=-1, bitorder='little').reshape(b.shape[:-1] + (-1,)).copy().view('<u4')


def planes(codes, bits):
    """32 codes at a time: low plane(s), widths as the page has them"""
    w = {3: [2, 1], 5: [4, 1], 6: [4, 2], 7: [4, 2, 1]}[bits]
    codes = np.asarray(codes, np.uint32)
    n = codes.shape[-1]
    assert n % 32 == 0
    out = []
    for k in range(0, n, 32):
        c = codes[..., k:k + 32]
        sh = 0
        for x in w:
            out.append(stream(c >> sh & (1 << x) - 1, x))
            sh += x
    return np.concatenate(out, -1)
POS = [0, 4, 1, 5, 2, 6, 3, 7]
NF4 = np.array([-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1], F32)
FP4 = np.array([0, 0.0052083, 0.6666667, 1, 0.3333333, 0.5, 0.1666667, 0.25, -0.0, -0.0052083, -0.6666667, -1, -0.3333333, -0.5, -0.1666667, -0.25], F32)
PK = {8: ('8bit_u8', 8, 1), 6: ('8bit_u8', 8, 1), 5: ('8bit_u8', 8, 1), 4: ('4bit_u8', 4, 2), 3: ('3bit_32', 3, 10), 2: ('2bit_u8', 2, 4), 1.58: ('2bit_u8', 2, 4), 1: ('1bit_u8', 1, 8)}
E8 = TAB['F8_E8M0']
E4 = TAB['F8_E4M3']
R = np.random.default_rng(2024)
P = 'model.layers.2.mlp.down_proj'


class W:
    """What a weight is expected to be; arrays broadcast to the value's shape."""

    def __init__(self, raw=None, scale=None, zero=None, offset=None, value=None, scheme=None, dtype=None):
        self.raw, self.scale, self.zero, self.offset, self.value, self.scheme, self.dtype = (raw, scale, zero, offset, value, scheme, dtype)


def case(name, made, configs=None, shards=1):
    """Writes folder NAME: the model, and expected.json with expected.bin (per weight: float32 values, then int16 codes)."""
    tensors, expect, meta = made if len(made) == 3 else (*made, None)
    write_folder(name, tensors, configs, meta, shards)
    logical, numbers = ([], b'')
    for weight, w in expect.items():
        shape = list(w.value.shape)
        places = sorted({0, w.value.size - 1, *(int(i) for i in R.integers(0, w.value.size, 8))})

        def at(array, index):
            if array is None:
                return None
            number = float(np.broadcast_to(np.asarray(array), shape)[index])
            return number if np.isfinite(number) else str(number)
        samples = []
        for place in places:
            index = tuple((int(i) for i in np.unravel_index(place, shape)))
            samples.append({'index': index, 'raw': None if w.raw is None else int(np.broadcast_to(w.raw, shape)[index]), 'scale': at(w.scale, index), 'zero_point': at(w.zero, index), 'offset': at(w.offset, index), 'value': at(w.value, index)})
        logical.append({'name': weight, 'shape': shape, 'scheme': w.scheme, 'dtype': w.dtype, 'has_raw': w.raw is not None, 'samples': samples})
        numbers += np.asarray(w.value, '<f4').tobytes()
        if w.raw is not None:
            numbers += np.broadcast_to(w.raw, shape).astype('<i2').tobytes()
    json.dump({'logical': logical}, open(name + '/expected.json', 'w'))
    open(name + '/expected.bin', 'wb').write(numbers)


def gptq(O, I, bits, g, fmt='v1', sym=False, act=False, g_idx=True, sd='F16', planes_=None, prefix='model.layers.0.self_attn.q_proj', bias=False, zero_lo=0):
    """[O, I] stored transposed; v1 keeps zero points less one."""
    g = I if g == -1 else g
    G = -(-I // g)
    idx = np.arange(I) // g
    if act:
        idx = R.permutation(idx)
    code = R.integers(0, 1 << bits, (O, I))
    top = (1 << bits) - 1
    z = np.full((G, O), 1 << bits - 1) if sym else R.integers(1, top + 1, (G, O))
    st = z - 1 & top if fmt == 'v1' else z
    pl = planes_ if planes_ is not None else bits in (5, 6, 7)
    pk = planes if pl else stream
    s, sf = tensor_of(sd, R.uniform(0.001, 0.02, (G, O)))
    t = {prefix + '.qweight': ints('U32', pk(code, bits).T.copy()), prefix + '.qzeros': ints('U32', pk(st, bits)), prefix + '.scales': s}
    for k in ('.qweight', '.qzeros'):
        t[prefix + k].dtype = 'I32'
    if g_idx:
        t[prefix + '.g_idx'] = ints('I32', idx)
    if bias:
        t[prefix + '.bias'] = tensor_of('F16', R.normal(size=O))[0]
    S = sf[idx].T
    Z = z[idx].T.astype(F32)
    return (t, {prefix + '.weight': W(raw=code, scale=S, zero=Z, value=(S * (code.astype(F32) - Z)).astype(F32), scheme='gptq', dtype=f'U{bits}')})


def inter(c):
    """AWQ GEMM: nibbles of a word interleaved."""
    c = c.reshape(c.shape[:-1] + (-1, 8))
    o = np.zeros_like(c)
    for j in range(8):
        o[..., POS[j]] = c[..., j]
    return stream(o.reshape(o.shape[:-2] + (-1,)), 4)


def gemm(O, I, g, sym=False, sd='F16', prefix=P, bias=False):
    """AWQ GEMM: qweight [I, O/8]."""
    g = I if g == -1 else g
    G = I // g
    code = R.integers(0, 16, (O, I))
    z = np.full((G, O), 8) if sym else R.integers(0, 16, (G, O))
    s, sf = tensor_of(sd, R.uniform(0.001, 0.02, (G, O)))
    t = {prefix + '.qweight': ints('U32', inter(code.T.copy())), prefix + '.qzeros': ints('U32', inter(z)), prefix + '.scales': s}
    for k in ('.qweight', '.qzeros'):
        t[prefix + k].dtype = 'I32'
    if bias:
        t[prefix + '.bias'] = tensor_of('F16', R.normal(size=O))[0]
    idx = np.arange(I) // g
    S = sf[idx].T
    Z = z[idx].T.astype(F32)
    return (t, {prefix + '.weight': W(raw=code, scale=S, zero=Z, value=(S * (code.astype(F32) - Z)).astype(F32), scheme='awq', dtype='U4')})


def padw(I, g):
    """Words of a padded row of zero points."""
    w = -(-(I // g) // 8)
    m = {128: 1, 64: 2, 32: 4}[128 if g >= 128 else g]
    return -(-w // m) * m


def gemv(O, I, g, sd='F16', prefix=P, zero_pad=True):
    """AWQ GEMV: qweight [O, I/8], padded scales."""
    G = I // g
    w = padw(I, g)
    code = R.integers(0, 16, (O, I))
    z = R.integers(0, 16, (O, G))
    s, sf = tensor_of(sd, R.uniform(0.001, 0.02, (O, G)))
    zz = np.zeros((O, 8 * w), int)
    zz[:, :G] = z
    ss = np.zeros((O, 8 * w), F32)
    ss[:, :G] = sf
    st, _ = tensor_of(sd, ss)
    t = {prefix + '.qweight': ints('U32', stream(code, 4)), prefix + '.qzeros': ints('U32', stream(zz, 4)), prefix + '.scales': st}
    for k in ('.qweight', '.qzeros'):
        t[prefix + k].dtype = 'I32'
    idx = np.arange(I) // g
    S = sf[:, idx]
    Z = z[:, idx].astype(F32)
    return (t, {prefix + '.weight': W(raw=code, scale=S, zero=Z, value=(S * (code.astype(F32) - Z)).astype(F32), scheme='awq', dtype='U4')})


def fast(O, I, g, prefix=P, sd='F16'):
    """AWQ GEMV-fast: tiles of 4 x 64 in 16-bit words, zero points as an added term."""
    G = I // g
    w = padw(I, g)
    code = R.integers(0, 16, (O, I))
    z = R.integers(0, 16, (G, O))
    sh = np.zeros((8 * w, O), F32)
    sh[:G] = R.uniform(0.001, 0.02, (G, O))
    s, sf = tensor_of(sd, sh)
    zh = np.zeros((8 * w, O), F32)
    zh[:G] = -(sf[:G] * z.astype(F32))
    zt, zf = tensor_of(sd, zh)
    q = np.zeros((O // 4, I), np.uint16)
    for o in range(O):
        for i in range(I):
            k = i % 32
            a, b, c = (k // 8, k % 8 // 2, k % 2)
            p = 8 * b + 4 * c + a
            lin = o % 4 * 64 + (32 * (i // 32) + p) % 64
            q[o // 4, 64 * (i // 64) + lin // 4] |= int(code[o, i]) << 4 * (lin % 4)
    t = {prefix + '.qweight': ints('U16', q), prefix + '.qzeros': zt, prefix + '.scales': s}
    t[prefix + '.qweight'].dtype = 'I16'
    idx = np.arange(I) // g
    S = sf[idx].T
    Z = zf[idx].T
    return (t, {prefix + '.weight': W(raw=code, scale=S, offset=Z, value=((S * code.astype(F32)).astype(F32) + Z).astype(F32), scheme='awq', dtype='U4')})


def bnb(shape, block, kind='nf4', nested=0, storage='U8', prefix=P, state=True, name_kind=None, extra_state={}):
    """Blocks over the flattened matrix, the first element in the high nibble; absmax plain or nested."""
    n = int(np.prod(shape))
    code = R.integers(0, 16, n)
    B = -(-n // block)
    book = NF4 if kind == 'nf4' else FP4
    by = np.zeros(-(-n // 2), np.uint8)
    c2 = np.concatenate([code, np.zeros(n % 2, int)])
    by = (c2[0::2] << 4 | c2[1::2]).astype(np.uint8)
    isz = SIZE[storage]
    pad = -len(by) % isz
    by = np.concatenate([by, np.zeros(pad, np.uint8)])
    t = {prefix + '.weight': T(storage, [len(by) // isz, 1], by.tobytes())}
    st = {'quant_type': kind, 'blocksize': block, 'dtype': 'bfloat16', 'shape': list(shape)}
    if nested:
        nb = -(-B // nested)
        book2 = np.sort(R.uniform(-1, 1, 256)).astype(F32)
        na = R.uniform(0.01, 0.1, nb).astype(F32)
        off = F32(R.uniform(0.05, 0.1))
        ac = R.integers(0, 256, B)
        A = (book2[ac] * na[np.arange(B) // nested]).astype(F32) + off
        A = A.astype(F32)
        t[prefix + '.weight.absmax'] = ints('U8', ac)
        t[prefix + '.weight.nested_absmax'] = tensor_of('F32', na)[0]
        t[prefix + '.weight.nested_quant_map'] = tensor_of('F32', book2)[0]
        st.update(nested_blocksize=nested, nested_dtype='float32', nested_offset=float(off))
    else:
        A = R.uniform(0.01, 0.1, B).astype(F32)
        t[prefix + '.weight.absmax'] = tensor_of('F32', A)[0]
    t[prefix + '.weight.quant_map'] = tensor_of('F32', book)[0]
    st.update(extra_state)
    if state:
        t[prefix + '.weight.quant_state.bitsandbytes__' + (name_kind or kind)] = text(json.dumps(st))
    a = A[np.arange(n) // block]
    v = (book[code] * a).astype(F32)
    sh = shape if state else (len(code),)
    return (t, {prefix + '.weight': W(raw=code.reshape(sh), scale=a.reshape(sh), value=v.reshape(sh), scheme='bitsandbytes', dtype=kind.upper())})


def bnb8(O, I, prefix=P, fmt=0):
    """int8 with the largest magnitude of each row."""
    q = R.integers(-127, 128, (O, I))
    m = R.uniform(0.1, 4, O).astype(F32)
    K = F32(0.007874015718698502)
    t = {prefix + '.weight': ints('I8', q), prefix + '.SCB': tensor_of('F32', m)[0]}
    if fmt is not None:
        t[prefix + '.weight_format'] = T('U8', [], bytes([fmt]))
    v = ((q.astype(F32) * m[:, None]).astype(F32) * K).astype(F32)
    s = (m * K).astype(F32)[:, None]
    return (t, {prefix + '.weight': W(raw=q, scale=s, zero=0, value=v, scheme='bitsandbytes', dtype='I8')})


def codes(shape, dt):
    """Random float8 bytes."""
    c = R.integers(0, 256, shape).astype(np.uint8)
    return (T(dt, shape, c.tobytes()), c, TAB[dt][c])


def rep(s, shape, bh, bw):
    """A grid of scales spread over the matrix."""
    return s[..., np.arange(shape[-2]) // bh, :][..., np.arange(shape[-1]) // bw]


def fp8(shape, dt, bh, bw, name='.weight_scale_inv', sd='F32', prefix=P, pad=(0, 0), scheme='fp8', wname='.weight', sshape=None):
    """float8 with a grid of scales."""
    w, c, v = codes(shape, dt)
    gr, gc = (-(-shape[-2] // bh) + pad[0], -(-shape[-1] // bw) + pad[1])
    sv = R.uniform(0.001, 0.1, list(shape[:-2]) + [gr, gc])
    s, sf = tensor_of(sd, sv)
    if sshape is not None:
        s.shape = list(sshape)
    S = rep(sf, shape, bh, bw)
    with np.errstate(all='ignore'):
        val = (v * S).astype(F32)
    return ({prefix + wname: w, prefix + name: s}, {prefix + wname if wname != '._weight_qdata' else prefix + '.weight': W(raw=c, scale=S, value=val, scheme=scheme, dtype=dt)})


def padded(codes, bits):
    """Older compressed-tensors: whole fields a word."""
    n = codes.shape[-1]
    per = 32 // bits
    w = -(-n // per)
    c = np.concatenate([codes, np.zeros(codes.shape[:-1] + (w * per - n,), int)], -1).reshape(codes.shape[:-1] + (w, per)).astype(np.uint32)
    return (c << np.arange(per, dtype=np.uint32) * bits).sum(-1, dtype=np.uint32) if per > 1 else c[..., 0]


def i32(a):
    """I32 of unsigned words."""
    t = ints('U32', a)
    t.dtype = 'I32'
    return t


def pack(shape, bits, g, asym=False, old=False, zp_plain=False, sd='F16', act=False, prefix=P, shape_dt='I64', gidx_unused=False, zdt='I8', wname='.weight'):
    """compressed-tensors pack-quantized; every slice alone."""
    lead, O, I = (shape[:-2], shape[-2], shape[-1])
    g = I if g == -1 else g
    G = -(-I // g)
    q = R.integers(0, 1 << bits, shape)
    pk = padded if old and bits in (3, 5, 6, 7) else stream
    s, sf = tensor_of(sd, R.uniform(0.001, 0.02, list(lead) + [O, G]))
    idx = np.arange(I) // g
    if act:
        idx = R.permutation(idx)
    t = {prefix + '.weight_packed': i32(pk(q, bits)), prefix + '.weight_scale': s}
    t[prefix + '.weight_shape'] = ints(shape_dt, list(shape) if len(shape) == 2 else [shape[-2], shape[-1]])
    mid = 1 << bits - 1
    z = np.full(list(lead) + [O, G], mid)
    zraw = None
    if asym:
        z = R.integers(0, 1 << bits, list(lead) + [O, G])
        if zp_plain:
            t[prefix + '.weight_zero_point'] = ints(zdt, z - mid)
        else:
            t[prefix + '.weight_zero_point'] = i32(np.swapaxes(pk(np.swapaxes(z, -1, -2), bits), -1, -2).copy())
    if act:
        t[prefix + '.weight_g_idx'] = ints('I32', idx)
    elif gidx_unused:
        t[prefix + '.weight_g_idx'] = ints('I32', np.full(I, -1))
    S = sf[..., idx]
    Z = z[..., idx].astype(F32)
    return (t, {prefix + wname: W(raw=q, scale=S, zero=Z, value=(S * (q.astype(F32) - Z)).astype(F32), scheme='compressed-tensors', dtype=f'U{bits}')})


def ct8(shape, g, asym=False, sd='F16', sshape=None, zdt='I8', prefix=P, wname='.weight'):
    """compressed-tensors int-quantized."""
    lead, O, I = (shape[:-2], shape[-2], shape[-1])
    q = R.integers(-128, 128, shape)
    G = 1 if g <= 0 else I // g
    idx = np.arange(I) // (I if g <= 0 else g)
    s, sf = tensor_of(sd, R.uniform(0.001, 0.02, list(lead) + [O, G]))
    t = {prefix + '.weight': ints('I8', q), prefix + '.weight_scale': s}
    S = sf[..., idx]
    Z = np.zeros_like(S)
    if asym:
        z = R.integers(-128, 128, list(lead) + [O, G])
        t[prefix + '.weight_zero_point'] = ints(zdt, z)
        Z = z[..., idx].astype(F32)
        if sshape:
            t[prefix + '.weight_zero_point'].shape = list(sshape)
    if sshape:
        s.shape = list(sshape)
    return (t, {prefix + '.weight': W(raw=q, scale=S, zero=Z, value=((q.astype(F32) - Z) * S).astype(F32), scheme='compressed-tensors', dtype='I8')})


def nib(c):
    """Two codes a byte, the even one low."""
    return (c[..., 0::2] | c[..., 1::2] << 4).astype(np.uint8)


def u8(a, dt='U8'):
    """Bytes."""
    return T(dt, a.shape, a.astype(np.uint8).tobytes())


def mx(shape, blocks='_blocks', scales='_scales', prefix='model.layers.0.mlp.experts.gate_up_proj', edge=False):
    """gpt-oss: blocks of 16 bytes."""
    c = R.integers(0, 16, shape)
    s = R.integers(110, 140, shape[:-1] + (shape[-1] // 32,)) if not edge else R.integers(0, 255, shape[:-1] + (shape[-1] // 32,))
    S = E8[s][..., np.arange(shape[-1]) // 32]
    b = nib(c).reshape(shape[:-1] + (shape[-1] // 32, 16))
    return ({prefix + blocks: u8(b), prefix + scales: u8(s)}, {prefix: W(raw=c, scale=S, value=(E2M1[c] * S).astype(F32), scheme='mxfp4', dtype='F4')})


def pairs(shape, kind, prefix=P, sd='F32', gval=None):
    """FP4 with a scale for 16 or 32 of a row."""
    g = 16 if 'nv' in kind else 32
    c = R.integers(0, 16, shape)
    n = shape[:-1] + (shape[-1] // g,)
    idx = np.arange(shape[-1]) // g
    if kind == 'ct-mx':
        s = R.integers(0, 255, n)
        S = E8[s]
        t = {prefix + '.weight_packed': u8(nib(c)), prefix + '.weight_scale': u8(s)}
        sch = 'compressed-tensors'
    elif kind == 'ds':
        s = R.integers(100, 140, n)
        S = E8[s]
        t = {prefix + '.weight': u8(nib(c), 'I8'), prefix + '.scale': u8(s, 'F8_E8M0')}
        sch = 'mxfp4'
    elif kind == 'ct-nv':
        s = R.integers(0, 127, n)
        gl = F32(gval or R.uniform(100, 3000))
        S = (E4[s] / gl).astype(F32)
        t = {prefix + '.weight_packed': u8(nib(c)), prefix + '.weight_scale': u8(s, 'F8_E4M3'), prefix + '.weight_global_scale': tensor_of('F32', [gl])[0], prefix + '.input_global_scale': tensor_of('F32', [5.0])[0]}
        sch = 'compressed-tensors'
    elif kind == 'mo-nv':
        s = R.integers(0, 127, n)
        gl = F32(gval or R.uniform(0.0001, 0.01))
        S = (E4[s] * gl).astype(F32)
        t = {prefix + '.weight': u8(nib(c)), prefix + '.weight_scale': u8(s, 'F8_E4M3'), prefix + '.weight_scale_2': tensor_of('F32', gl)[0], prefix + '.input_scale': tensor_of('F32', 5.0)[0]}
        sch = 'modelopt'
    S = S[..., idx]
    return (t, {prefix + '.weight': W(raw=c, scale=S, value=(E2M1[c] * S).astype(F32), scheme=sch, dtype='F4')})


def mo(O, I, g, sd='F32', pre=True, two=False):
    """ModelOpt INT4-AWQ: two rows a byte."""
    q = R.integers(-8, 8, (O, I))
    s, sf = tensor_of(sd, R.uniform(0.001, 0.02, (O, I // g)))
    u = q & 15
    S = sf[:, np.arange(I) // g]
    t = {P + '.weight': u8(u[0::2] | u[1::2] << 4), P + '.weight_scale': s}
    if pre:
        t[P + '.pre_quant_scale'] = tensor_of('F16', R.uniform(0.5, 2, I))[0]
    if two:
        t[P + '.weight_scale_2'] = tensor_of('F32', 0.5)[0]
    return (t, {P + '.weight': W(raw=u, scale=S, zero=0, value=(q.astype(F32) * S).astype(F32), scheme='modelopt', dtype='I4')})


def u32(a):
    """U32 words."""
    t = ints('U32', a)
    return t


def mlx(shape, bits, g, sd='BF16', prefix=P):
    """MLX affine."""
    I = shape[-1]
    c = R.integers(0, 1 << bits, shape)
    n = shape[:-1] + (I // g,)
    s, sf = tensor_of(sd, R.uniform(-0.02, 0.02, n))
    b, bf = tensor_of(sd, R.uniform(-0.3, 0.3, n))
    i = np.arange(I) // g
    S = sf[..., i]
    B = bf[..., i]
    return ({prefix + '.weight': u32(stream(c, bits)), prefix + '.scales': s, prefix + '.biases': b}, {prefix + '.weight': W(raw=c, scale=S, offset=B, value=((c.astype(F32) * S).astype(F32) + B).astype(F32), scheme='mlx', dtype=f'U{bits}')})


def mode(shape, m, prefix=P):
    """MLX without biases."""
    I = shape[-1]
    g = 16 if m == 'nvfp4' else 32
    s = R.integers(0, 127, shape[:-1] + (I // g,))
    if m == 'mxfp8':
        c = R.integers(0, 127, shape) | R.integers(0, 2, shape) << 7
        v = TAB['F8_E4M3'][c]
        b = 8
    else:
        c = R.integers(0, 16, shape)
        v = E2M1[c]
        b = 4
    S = (TAB['F8_E4M3'] if m == 'nvfp4' else TAB['F8_E8M0'])[s][..., np.arange(I) // g]
    return ({prefix + '.weight': u32(stream(c, b)), prefix + '.scales': ints('U8', s)}, {prefix + '.weight': W(raw=c, scale=S, value=(v * S).astype(F32), scheme='mlx', dtype='F8_E4M3' if b == 8 else 'F4')})


def hqq(shape, nbits, g, axis, sd='F16', as_float=None, prefix=P, nopack=False, views=True):
    """HQQ: fields from the highest down, rows a step apart."""
    n = int(np.prod(shape))
    packing, fb, nf = PK[nbits]
    top = {1.58: 3}.get(nbits) or 1 << int(nbits)
    Q = R.integers(0, top, (n // g, g) if axis == 1 else (g, n // g))
    Rr = n // g
    s, sf = tensor_of(sd, R.uniform(0.001, 0.02, (Rr, 1) if axis == 1 else (1, Rr)))
    z, zf = tensor_of(sd, R.uniform(0, top, (Rr, 1) if axis == 1 else (1, Rr)))
    rows = Q.shape[0]
    step = -(-rows // nf)
    Qp = np.concatenate([Q, np.zeros((step * nf - rows, Q.shape[1]), int)], 0)
    word = np.zeros((step, Q.shape[1]), np.uint32)
    for k in range(nf):
        word |= Qp[k * step:(k + 1) * step].astype(np.uint32) << np.uint32(fb * (nf - 1 - k))
    if nbits == 3:
        w = ints('U32', word)
        w.dtype = 'I32'
    else:
        w = ints('U8', word)
    if as_float:
        w = T(as_float, [step, Q.shape[1] * (4 if nbits == 3 else 1) // SIZE[as_float]], w.data)
    t = {prefix + '.W_q': w, prefix + '.scale': s, prefix + '.zero': z, prefix + '.nbits': ints('I32', int(nbits)) if nbits != 1.58 else tensor_of('F32', 1.58)[0], prefix + '.group_size': ints('I32', g), prefix + '.axis': ints('I32', axis), prefix + '.shape': ints('I64', list(shape)), prefix + '.compute_dtype': text('torch.float16'), prefix + '.view_as_float': T('U8', [], bytes([1 if as_float else 0])), prefix + '.offload_meta': T('U8', [], b'\x00'), prefix + '.encoded_state_dict': T('U8', [], b'\x01'), prefix + '.stores_quant_config': T('U8', [], b'\x01'), prefix + '.channel_wise': T('U8', [], b'\x01'), prefix + '.optimize': T('U8', [], b'\x01'), prefix + '.round_zero': T('U8', [], b'\x00'), prefix + '.quant_scale': T('U8', [], b'\x00'), prefix + '.quant_zero': T('U8', [], b'\x00')}
    if not nopack:
        t[prefix + '.packing'] = text(packing)
    t[prefix + '.unpack_view_dtype'] = text('torch.uint8' if nbits != 3 else 'torch.int32')
    with np.errstate(all='ignore'):
        v = ((Q.astype(F32) - zf).astype(F32) * sf).astype(F32)
    br = lambda a: np.broadcast_to(a, Q.shape).reshape(shape)
    return (t, {prefix + '.weight': W(raw=Q.reshape(shape), scale=br(sf), zero=br(zf), value=v.reshape(shape), scheme='hqq')})


def qz(O, I, qt, g, axis, sd='F16', intshift=False, prefix=P, bias=True):
    """quanto: fields from the lowest up; axis -1 goes down columns."""
    bits = 4 if qt == 'qint4' else 2
    nf = 8 // bits
    n = O * I
    code = R.integers(0, 1 << bits, (O, I))
    if axis == 0:
        M = code.reshape(n // g, g)
        G = n // g
        ss = (G, 1)
    else:
        G = n // g
        M = np.zeros((g, G), int)
        for o in range(O):
            for i in range(I):
                M[o % g, i * (O // g) + o // g] = code[o, i]
        ss = (1, G)
    rows = M.shape[0]
    step = -(-rows // nf)
    Mp = np.concatenate([M, np.zeros((step * nf - rows, M.shape[1]), int)], 0)
    w = np.zeros((step, M.shape[1]), np.uint8)
    for k in range(nf):
        w |= (Mp[k * step:(k + 1) * step] << bits * k).astype(np.uint8)
    s, sf = tensor_of(sd, R.uniform(0.001, 0.02, ss))
    if intshift:
        shv = R.integers(0, 1 << bits, ss)
        sh = ints('U8', shv)
        V = (sf * (M.astype(F32) - shv.astype(F32))).astype(F32)
        Z = shv.astype(F32)
    else:
        sh, shf = tensor_of(sd, R.uniform(0.01, 0.1, ss))
        V = ((sf * M.astype(F32)).astype(F32) - shf).astype(F32)
        Z = -shf

    def back(a):
        a = np.broadcast_to(a, M.shape)
        if axis == 0:
            return a.reshape(O, I)
        o, i = np.meshgrid(np.arange(O), np.arange(I), indexing='ij')
        return a[o % g, i * (O // g) + o // g]
    t = {prefix + '.weight._data._data': ints('U8', w), prefix + '.weight._scale': s, prefix + '.weight._shift': sh, prefix + '.input_scale': tensor_of('F32', 1.0)[0], prefix + '.output_scale': tensor_of('F32', 1.0)[0]}
    if bias:
        t[prefix + '.bias'] = tensor_of('F16', np.zeros(O))[0]
    return (t, {prefix + '.weight': W(raw=code, scale=back(sf), zero=back(Z) if intshift else None, offset=None if intshift else back(Z), value=back(V), scheme='quanto', dtype=f'U{bits}')})


def ao(O, I, g, ty, zero, sd='F32', zd='I8', lo=-128, hi=128, onedim=False):
    """torchao, a byte a code."""
    q = R.integers(lo, hi, (O, I))
    g_ = I if g == -1 else g
    s, sf = tensor_of(sd, R.uniform(0.001, 0.02, (O, I // g_)))
    S = sf[:, np.arange(I) // g_]
    if onedim:
        s.shape = [O]
    t = {P + '._weight_qdata': ints('I8', q), P + '._weight_scale': s}
    Z = np.zeros_like(S)
    names = ['qdata', 'scale']
    if zero:
        z = R.integers(lo, hi, (O, I // g_))
        t[P + '._weight_zero_point'] = ints(zd, z) if zd[0] == 'I' else tensor_of(zd, z)[0]
        Z = z[:, np.arange(I) // g_].astype(F32)
        names.append('zero_point')
        if onedim:
            t[P + '._weight_zero_point'].shape = [O]
    md = {'tensor_names': json.dumps([P + '.weight']), P + '.weight': json.dumps({'_type': ty, '_data': {'block_size': [1, g_], 'target_dtype': {'_type': 'torch.dtype', '_data': 'int4'}}, '_tensor_data_names': names})}
    return (t, {P + '.weight': W(raw=q, scale=S, zero=Z, value=((q.astype(F32) - Z) * S).astype(F32), scheme='torchao')}, md)


def aqlm(og, ig, O, I, ncb, bits, sd='F16', dt=None):
    """AQLM: sums of vectors of books."""
    c = R.integers(0, 1 << bits, (O // og, I // ig, ncb))
    dt = dt or ('I8' if bits <= 8 else 'I16')
    cc = c.copy()
    h = 1 << 8 * SIZE[dt] - 1
    cc = np.where(cc >= h, cc - 2 * h, cc)
    b, bf = tensor_of(sd, R.normal(size=(ncb, 1 << bits, og, ig)))
    s, sf = tensor_of(sd, R.uniform(0.1, 2, (O // og, 1, 1, 1)))
    v = np.zeros((O // og, I // ig, og, ig), F32)
    for k in range(ncb):
        v = (v + bf[k][c[:, :, k]]).astype(F32)
    v = (v * sf).astype(F32).transpose(0, 2, 1, 3).reshape(O, I)
    S = np.broadcast_to(sf.reshape(-1, 1), (O // og, og)).reshape(O, 1)
    return ({P + '.codes': ints(dt, cc), P + '.codebooks': b, P + '.scales': s}, {P + '.weight': W(raw=None, scale=S, value=v, scheme='aqlm')})


def exl2(O, groups, perm=True):
    """groups: list of (bits, rows)"""
    I = sum((r for _, r in groups))
    G = len(groups)
    code = np.zeros((I, O), int)
    rows = []
    qg = []
    at = 0
    gi = []
    for k, (b, r) in enumerate(groups):
        c = R.integers(0, 1 << b, (r, O))
        code[at:at + r] = c
        qg += [b, sum((len(x) for x in rows))]
        rows.append(stream(c.T.copy(), b).T.copy())
        at += r
        gi += [k] * r
    s = R.integers(0, 16, (G, O))
    m, mf = tensor_of('F16', R.uniform(0.1, 1, G))
    sc = (((s + 1) ** 2).astype(F32) * mf[:, None] / F32(256)).astype(F32)
    inv = R.permutation(I) if perm else np.arange(I)
    t = {P + '.q_weight': ints('U32', np.concatenate(rows)), P + '.q_groups': ints('I16', qg), P + '.q_scale': ints('U32', stream(s, 4)), P + '.q_scale_max': m, P + '.q_invperm': ints('I32', inv)}
    for k in ('.q_weight', '.q_scale'):
        t[P + k].dtype = 'I32'
    bits = np.array([b for b, _ in groups])
    gi = np.array(gi)
    S = sc[gi][inv].T
    z = (1 << bits[gi] - 1)[inv].astype(F32)[None, :]
    raw = code[inv].T
    return (t, {P + '.weight': W(raw=raw, scale=S, zero=z, value=(S * (raw.astype(F32) - z)).astype(F32), scheme='exl2')})


def gptq_config(bits, group, fmt='gptq', **more):
    return {'config.json': {'quantization_config': {'quant_method': 'gptq', 'bits': bits, 'group_size': group, 'checkpoint_format': fmt, **more}}}


def packed_config(bits, group):
    weights = {'num_bits': bits, 'type': 'int', 'strategy': 'group' if group else 'channel', 'group_size': group}
    return {'config.json': {'quantization_config': {'quant_method': 'compressed-tensors', 'format': 'pack-quantized', 'config_groups': {'group_0': {'targets': ['Linear'], 'weights': weights}}}}}


def blocks_config(rows, columns):
    return {'config.json': {'quantization_config': {'quant_method': 'fp8', 'weight_block_size': [rows, columns]}}}


def main():
    for bits in (5, 7):
        case(f'gptq-{bits}bit-act', gptq(32, 64, bits, 16, 'v1', act=True), gptq_config(bits, 16, desc_act=True))
    case('gptq-2bit-v2-bf16-shards', gptq(16, 48, 2, 16, 'v2', sd='BF16', bias=True, prefix='transformer.h.0.attn.c_attn'), gptq_config(2, 16, 'gptq_v2'), 3)
    case('gptq-3bit-planes', gptq(32, 64, 3, 32, 'v2', planes_=True), gptq_config(3, 32, 'gptq_p'))
    case('gptq-short-last-group', gptq(16, 64, 4, 48, g_idx=False), gptq_config(4, 48))
    case('gptq-8bit-row', gptq(24, 40, 8, -1))
    case('awq-gemm-row', gemm(24, 40, -1))
    case('awq-gemv-512', gemv(8, 512, 128))
    case('awq-gemv-fast-192', fast(8, 192, 64))
    case('bnb-fp4-nested-blocks-of-2', bnb((7, 33), 32, 'fp4', 2))
    case('bnb-nf4-rank3-f32', bnb((2, 5, 24), 64, 'nf4', 0, 'F32'), None, 2)
    case('bnb-int8-odd', bnb8(9, 21, fmt=None))
    case('fp8-blocks-64x48-bf16', fp8((70, 50), 'F8_E4M3', 64, 48, sd='BF16'), blocks_config(64, 48))
    case('fp8-e5m2fnuz-channel', fp8((9, 21), 'F8_E5M2FNUZ', 1, 21, '.weight_scale'))
    case('fp8-experts-padded-grid', fp8((2, 20, 40), 'F8_E4M3', 16, 16, pad=(2, 1)), blocks_config(16, 16))
    for bits in (1, 2, 5, 6, 7):
        case(f'ct-{bits}bit-dense-experts', pack((2, 11, 45), bits, 15, True), packed_config(bits, 15))
        case(f'ct-{bits}bit-old', pack((11, 77), bits, -1, True, old=True), packed_config(bits, None))
    case('ct-3bit-act-bf16', pack((12, 40), 3, 8, True, act=True, sd='BF16'), packed_config(3, 8), 2)
    case('ct-4bit-zero-points-of-bytes', pack((13, 40), 4, 8, True, zp_plain=True), packed_config(4, 8))
    case('ct-int8-groups-experts', ct8((2, 9, 48), 16, True, 'BF16'))
    case('mxfp4-experts', mx((2, 6, 96), edge=True))
    for kind in ('ct-mx', 'ds', 'ct-nv', 'mo-nv'):
        case(f'fp4-{kind}-experts', pairs((2, 5, 96), kind), None, 2)
    case('modelopt-int4-bf16', mo(10, 48, 12, 'BF16', two=True))
    for bits in (3, 5, 6):
        case(f'mlx-{bits}bit-experts', mlx((2, 5, 64), bits, 64, 'F16'))
    for name in ('mxfp4', 'nvfp4', 'mxfp8'):
        case(f'mlx-{name}-experts', mode((2, 5, 64), name))
    for bits, axis in ((1.58, 1), (3, 0), (5, 1), (6, 0), (4, 0)):
        case(f'hqq-{bits}bit-axis{axis}', hqq((12, 35), bits, 10, axis, 'BF16', 'F32' if bits == 3 else None))
    for axis in (0, -1):
        case(f'quanto-qint2-axis{axis}', qz(36, 20, 'qint2', 12, axis), {'quanto_qmap.json': {P: {'weights': 'qint2', 'activations': 'none'}}})
    case('quanto-qint4-shift-of-bytes', qz(32, 7, 'qint4', 16, -1, intshift=True))
    case('torchao-intx', ao(9, 48, 16, 'IntxUnpackedToInt8Tensor', True, 'BF16', lo=-8, hi=8))
    case('aqlm-4x4x8', aqlm(4, 4, 12, 24, 3, 8, 'BF16'))
    case('aqlm-1x16', aqlm(1, 16, 6, 48, 1, 9, dt='I16'))
    case('exl2-8-to-2', exl2(32, [(8, 4), (6, 16), (5, 32), (3, 32), (2, 16)]))
    case('awq-gemv-128-like-gptq', gemv(16, 128, 64))
    case('awq-gemv-256-like-gptq', gemv(32, 256, 32))
main()
