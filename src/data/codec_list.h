/* codec_list.h - one line per compressed form that is recognised by its first bytes. */
CODEC(gzip)
CODEC(xz)
CODEC(zstd)
CODEC(bzip2)
