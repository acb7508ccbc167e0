/* A file's bytes as constants of the program: tm_sample_bundle up to tm_sample_bundle_end. */
	.section .rodata, "a"
	.balign 16
	.globl tm_sample_bundle
	.hidden tm_sample_bundle
tm_sample_bundle:
	.incbin BUNDLE
	.globl tm_sample_bundle_end
	.hidden tm_sample_bundle_end
tm_sample_bundle_end:
	.section .note.GNU-stack, "", %progbits
