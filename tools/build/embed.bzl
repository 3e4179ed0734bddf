"""embed_text(): a text file as a C++ string literal, which is included where it is used."""

def embed_text(name, src):
    """Writes the raw string literal of `src` to `src`.inc. The text must not contain `)~~~"`."""
    native.genrule(
        name = name,
        srcs = [src],
        outs = [src + ".inc"],
        cmd = "{ printf 'R\"~~~('; cat $<; printf ')~~~\"\\n'; } > $@",
    )
