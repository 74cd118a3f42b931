/* The built web page as read-only bytes of the program: `uctrace view` needs no file beside it. */
    .section .rodata
    .balign 16
    .global uctrace_page_html_start
    .global uctrace_page_html_end
uctrace_page_html_start:
    .incbin UCTRACE_PAGE_HTML
uctrace_page_html_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
