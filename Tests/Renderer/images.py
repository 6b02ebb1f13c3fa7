# SPDX-License-Identifier: Apache-2.0
"""Makes images of all kinds, with Pillow and without."""
import io, os, random, shutil, struct, subprocess, tempfile, zlib

from PIL import Image, ImageDraw, ImageFilter

from renderer import BMP, DIB, GIF, JPEG, PNG, WEBP

ROUND = [(64, 64), (256, 256), (200, 120), (129, 65), (33, 200), (300, 7), (16, 16), (1, 1), (97, 97), (48, 48)]


def drawing(seed, size=None):
    """An icon: shapes on a gradient within a shape, transparent outside."""
    chance = random.Random(seed)
    width, height = size or ROUND[seed % len(ROUND)]
    picture = Image.linear_gradient("L").resize((width, height)).convert("RGB")
    tint = Image.new("RGB", (width, height), tuple(chance.randrange(256) for _ in range(3)))
    picture = Image.blend(picture, tint, 0.6)
    draw = ImageDraw.Draw(picture)
    for _ in range(12):
        x, y = chance.randrange(width), chance.randrange(height)
        right, bottom = x + chance.randrange(1 + width // 2), y + chance.randrange(1 + height // 2)
        colour = tuple(chance.randrange(256) for _ in range(3))
        chance.choice([draw.ellipse, draw.rectangle, draw.line])([x, y, right, bottom], fill=colour)
    mask = Image.new("L", (width, height), 255)
    if min(width, height) > 4:
        mask.paste(0, (0, 0, width, height))
        ImageDraw.Draw(mask).ellipse([0, 0, width - 1, height - 1], fill=255)
        mask = mask.filter(ImageFilter.GaussianBlur(1 + max(width, height) / 60))
    picture.putalpha(mask)
    return picture


def saved(picture, format, **options):
    file = io.BytesIO()
    picture.save(file, format, **options)
    return file.getvalue()


# ICC profiles.


def _fixed(*values):
    return b"".join(struct.pack(">i", round(value * 65536)) for value in values)


def _profile(device, space, connection, tags):
    table, body, start = b"", b"", 128 + 4 + 12 * len(tags)
    for name, data in tags:
        table += name + struct.pack(">II", start + len(body), len(data))
        body += data + b"\0" * (-len(data) % 4)
    head = struct.pack(">I4xI4s4s4s6H4s", start + len(body), 0x02400000, device, space, connection, 2026, 1, 1, 0, 0, 0,
                       b"acsp")
    head += b"\0" * 28 + _fixed(0.9642, 1, 0.8249)
    return head.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + body


def _xyz(*values):
    return b"XYZ \0\0\0\0" + _fixed(*values)


def _gamma(value):
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(value * 256))


def _texts(name):
    return [(b"desc", b"desc\0\0\0\0" + struct.pack(">I", len(name) + 1) + name + b"\0" * 79),
            (b"cprt", b"text\0\0\0\0CC0\0"), (b"wtpt", _xyz(0.9642, 1, 0.8249))]


def _rgb_profile(name, red, green, blue, gamma=2.2):
    curve = _gamma(gamma)
    return _profile(b"mntr", b"RGB ", b"XYZ ", _texts(name) + [
        (b"rXYZ", _xyz(*red)), (b"gXYZ", _xyz(*green)), (b"bXYZ", _xyz(*blue)),
        (b"rTRC", curve), (b"gTRC", curve), (b"bTRC", curve)])


def _cmyk_profile():
    """A press whose inks darken evenly: a table with two places for each ink."""
    table = b"mft2\0\0\0\0" + bytes([4, 3, 2, 0]) + _fixed(1, 0, 0, 0, 1, 0, 0, 0, 1) + struct.pack(">2H", 2, 2)
    table += struct.pack(">2H", 0, 65535) * 4
    for index in range(16):
        cyan, magenta, yellow, black = [index >> (3 - ink) & 1 for ink in range(4)]
        light = (1 - 0.9 * black) * (1 - 0.35 * cyan) * (1 - 0.4 * magenta) * (1 - 0.1 * yellow)
        a, b = (-35 * cyan + 60 * magenta) * (1 - black), (70 * yellow - 40 * cyan - 5 * magenta) * (1 - black)
        table += struct.pack(">3H", round(light * 65280), round((a + 128) * 256), round((b + 128) * 256))
    table += struct.pack(">2H", 0, 65535) * 3
    return _profile(b"prtr", b"CMYK", b"Lab ", _texts(b"press") + [(b"A2B0", table)])


P3 = _rgb_profile(b"P3", (0.51512, 0.2412, -0.00105), (0.29198, 0.69225, 0.04189), (0.1571, 0.06657, 0.78407))
ADOBE = _rgb_profile(b"Adobe", (0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457))
GRAY = _profile(b"mntr", b"GRAY", b"XYZ ", _texts(b"gray") + [(b"kTRC", _gamma(1.4))])
PRESS = _cmyk_profile()


def exif(orientation):
    data = Image.Exif()
    data[0x0112] = orientation
    return data.tobytes()


# PNG that Pillow does not write.


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(picture, depth=8, interlaced=False, chunks=()):
    """Of an image in mode L, LA, RGB or RGBA."""
    bands, (width, height), data = len(picture.getbands()), picture.size, picture.tobytes()
    rows = [data[y * width * bands:(y + 1) * width * bands] for y in range(height)]
    body = b""
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    for left, top, right, down in passes if interlaced else [(0, 0, 1, 1)]:
        for row in rows[top::down] if width > left else []:
            pixels = [row[x * bands:(x + 1) * bands] for x in range(left, width, right)]
            samples = b"".join(pixels)
            # 257 times as much, with a last byte that must not matter.
            body += b"\0" + (b"".join(bytes([s, s]) for s in samples) if depth == 16 else samples)
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[bands]
    header = struct.pack(">2I5B", width, height, depth, kind, 0, 0, interlaced)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(chunk(*each) for each in chunks)
            + chunk(b"IDAT", zlib.compress(body)) + chunk(b"IEND", b""))


# Bitmaps.


def _runs(row, nibbles):
    data, x = b"", 0
    while x < len(row):
        end = x + 1
        while end < len(row) and row[end] == row[x] and end - x < 255:
            end += 1
        # A literal of three now and then.
        if end - x == 1 and x + 3 <= len(row):
            part = row[x:x + 3]
            packed = bytes([part[0] << 4 | part[1], part[2] << 4]) if nibbles else part + b"\0"
            data, x = data + b"\0\3" + packed, x + 3
        else:
            data, x = data + bytes([end - x, row[x] * 17 if nibbles else row[x]]), end
    return data + b"\0\0"


def bitmap(picture, depth, runs=False, masks=None, top_down=False, icon=False):
    """A BMP file, or the bitmap of an .ico file, without Pillow; and what it shows."""
    width, height = picture.size
    palette = header_masks = b""
    if depth <= 8:
        indexed = picture.convert("RGB").quantize(1 << depth)
        colours = (indexed.getpalette() + [0] * 768)[:3 << depth]
        palette = b"".join(bytes(colours[i:i + 3][::-1]) + b"\0" for i in range(0, len(colours), 3))
        indexes, shown = indexed.tobytes(), indexed.convert("RGBA")
        rows = [indexes[y * width:(y + 1) * width] for y in range(height)]
        if runs:
            rows = [_runs(row, depth == 4) for row in rows]
        else:
            each = 8 // depth
            padded = [row + b"\0" * (-width % each) for row in rows]
            rows = [bytes(sum(row[x + i] << (8 - depth * (i + 1)) for i in range(each))
                          for x in range(0, len(row), each)) for row in padded]
    else:
        bits = masks or {16: (0x7C00, 0x3E0, 0x1F, 0), 24: (0xFF0000, 0xFF00, 0xFF, 0),
                         32: (0xFF0000, 0xFF00, 0xFF, 0xFF000000 if icon else 0)}[depth]
        pixels, shown = [], []
        data = picture.tobytes()
        for at in range(0, len(data), 4):
            pixel = data[at:at + 4]
            value, seen = 0, []
            for sample, mask in zip(pixel, bits):
                low = mask & -mask
                most = mask // low if mask else 0
                level = (sample * most + 127) // 255
                value |= level * low
                seen.append(round(level * 255 / most) if mask else 255)
            pixels.append(value.to_bytes(depth // 8, "little"))
            shown.append(bytes(seen))
        rows = [b"".join(pixels[y * width:(y + 1) * width]) for y in range(height)]
        shown = Image.frombytes("RGBA", picture.size, b"".join(shown))
        if masks:
            header_masks = struct.pack("<4I", *bits)
    if not runs:
        rows = [row + b"\0" * (-len(row) % 4) for row in rows]
    body = b"".join(rows if top_down else rows[::-1]) + (b"\0\1" if runs else b"")
    size = 56 if masks else 40
    compression = 3 if masks else {4: 2, 8: 1}[depth] if runs else 0
    header = struct.pack("<3I2H6I", size, width, (-height if top_down else height * (2 if icon else 1)) & 0xFFFFFFFF, 1,
                         depth, compression, len(body), 0, 0, 0, 0) + header_masks + palette
    if not icon:
        return b"BM" + struct.pack("<3I", 14 + len(header) + len(body), 0, 14 + len(header)) + header + body, shown
    if depth != 32:
        alpha = picture.getchannel("A").point(lambda value: 255 if value > 127 else 0)
        shown.putalpha(alpha)
        row_length = (width + 31) // 32 * 4
        inverse = alpha.point(lambda value: 255 - value).convert("1").tobytes()
        length = (width + 7) // 8
        mask = [inverse[y * length:(y + 1) * length].ljust(row_length, b"\0") for y in range(height)]
        body += b"".join(mask[::-1])
    return header + body, shown


def icon_entry(picture):
    """The bitmap that Pillow puts into an .ico file."""
    data = saved(picture, "ICO", sizes=[picture.size], bitmap_format="bmp")
    length, offset = struct.unpack("<2I", data[14:22])
    return data[offset:offset + length]


def _animated(format, seed, **options):
    first = drawing(seed)
    frames = [drawing(seed + i, first.size) for i in (100, 200)]
    return saved(first, format, save_all=True, append_images=frames, duration=100, **options)


def avif_samples(seeds):
    for seed in seeds:
        whole = drawing(seed, [(64, 64), (256, 256), (200, 120), (129, 65)][seed % 4])
        flat = whole.convert("RGB")
        yield "avif", saved(flat, "AVIF", quality=90)
        yield "avif with alpha", saved(whole, "AVIF", quality=90)
        yield "avif of all colours", saved(flat, "AVIF", quality=90, subsampling="4:4:4")
        yield "avif with P3", saved(flat, "AVIF", quality=90, icc_profile=P3)
        yield "avif turned", saved(flat, "AVIF", quality=90, exif=exif(seed % 8 + 1))


def jxl(data, suffix, *options):
    """What cjxl makes of a file."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a" + suffix), os.path.join(folder, "a.jxl")
        with open(source, "wb") as file:
            file.write(data)
        subprocess.run(["cjxl", source, target, *options], check=True, capture_output=True)
        with open(target, "rb") as file:
            return file.read()


def has_jxl():
    return shutil.which("cjxl") is not None


def jxl_samples(seeds):
    """Yields a class, the bytes, and the file that they were made from; see has_jxl()."""
    for seed in seeds:
        whole = drawing(seed, [(64, 64), (256, 256), (200, 120), (129, 65)][seed % 4])
        flat, gray, pale = whole.convert("RGB"), whole.convert("L"), whole.convert("LA")
        for name, source, options in (
                ("jxl", saved(flat, "PNG"), ["-d", "0.5"]),
                ("jxl with alpha", saved(whole, "PNG"), ["-d", "0.5"]),
                ("jxl lossless", saved(whole, "PNG"), ["-d", "0"]),
                ("jxl lossless, premultiplied", saved(whole, "PNG"), ["-d", "0", "--premultiply=1"]),
                ("jxl lossless, 16 bits", png(whole, 16), ["-d", "0"]),
                ("jxl lossless, gray", saved(gray, "PNG"), ["-d", "0"]),
                ("jxl lossless, gray with alpha", saved(pale, "PNG"), ["-d", "0"]),
                ("jxl gray", saved(gray, "PNG"), ["-d", "0.5"]),
                ("jxl lossless with P3", saved(whole, "PNG", icc_profile=P3), ["-d", "0"]),
                ("jxl with P3", saved(flat, "PNG", icc_profile=P3), ["-d", "0.5"]),
                ("jxl lossless, gray with a profile", saved(gray, "PNG", icc_profile=GRAY), ["-d", "0"]),
                ("jxl in boxes, progressive", saved(flat, "PNG"), ["-d", "0.5", "--container=1", "-p"])):
            yield name, jxl(source, ".png", "-e", "3", *options), source
        source = saved(flat, "JPEG", quality=90, exif=exif(seed % 8 + 1))
        yield "jxl of a turned jpeg", jxl(source, ".jpg"), source
        source = _animated("PNG", seed)
        yield "jxl animated", jxl(source, ".apng", "-d", "0", "-e", "3"), source


def samples(seeds):
    """Yields a class, a kind, the bytes, and what it shows (None: what Pillow reads) for each class and seed."""
    for seed in seeds:
        whole = drawing(seed)
        flat, gray = whole.convert("RGB"), whole.convert("L")
        pale = whole.convert("LA")
        palette = flat.quantize(200)
        see_through = flat.quantize(64)
        alphas = bytes((i * 37 + seed) % 256 for i in range(64))
        yield "png 1", PNG, saved(flat.convert("1"), "PNG"), None
        yield "png L", PNG, saved(gray, "PNG"), None
        yield "png LA", PNG, saved(pale, "PNG"), None
        yield "png P", PNG, saved(palette, "PNG"), None
        yield "png P of 2 bits", PNG, saved(flat.quantize(4), "PNG"), None
        yield "png P with alpha", PNG, saved(see_through, "PNG", transparency=alphas), None
        yield "png RGB with a transparent colour", PNG, saved(flat, "PNG", transparency=flat.getpixel((0, 0))), None
        yield "png RGB", PNG, saved(flat, "PNG"), None
        yield "png RGBA", PNG, saved(whole, "PNG"), None
        yield "png RGBA with P3", PNG, saved(whole, "PNG", icc_profile=P3), None
        yield "png RGBA turned", PNG, saved(whole, "PNG", exif=exif(seed % 8 + 1)), None
        yield "png 16 bits gray", PNG, png(gray, 16), gray
        yield "png 16 bits", PNG, png(whole, 16), whole
        yield "png interlaced", PNG, png(whole, 8, True), whole
        yield "png interlaced, 16 bits", PNG, png(pale, 16, True), pale
        yield "png animated", PNG, _animated("PNG", seed), whole
        yield "jpeg", JPEG, saved(flat, "JPEG", quality=(40, 75, 95)[seed % 3], subsampling=seed % 3), None
        yield "jpeg progressive", JPEG, saved(flat, "JPEG", progressive=True), None
        yield "jpeg gray", JPEG, saved(gray, "JPEG"), None
        yield "jpeg gray with a profile", JPEG, saved(gray, "JPEG", icc_profile=GRAY), None
        yield "jpeg turned", JPEG, saved(flat, "JPEG", exif=exif(seed % 8 + 1)), None
        yield "jpeg with P3", JPEG, saved(flat, "JPEG", quality=90, icc_profile=P3), None
        yield "jpeg with Adobe RGB", JPEG, saved(flat, "JPEG", quality=90, icc_profile=ADOBE), None
        yield "jpeg CMYK", JPEG, saved(flat.convert("CMYK"), "JPEG", quality=90), None
        yield "jpeg CMYK with a profile", JPEG, saved(flat.convert("CMYK"), "JPEG", quality=90, icc_profile=PRESS), None
        yield "jpeg with a broken profile", JPEG, saved(flat, "JPEG", icc_profile=P3[:200]), None
        yield "gif", GIF, saved(palette, "GIF"), None
        yield "gif with a transparent colour", GIF, saved(see_through, "GIF", transparency=3), None
        yield "gif animated", GIF, _animated("GIF", seed), None
        yield "webp", WEBP, saved(flat, "WEBP", quality=80), None
        yield "webp with alpha", WEBP, saved(whole, "WEBP", quality=80), None
        yield "webp lossless", WEBP, saved(whole, "WEBP", lossless=True), None
        yield "webp animated", WEBP, _animated("WEBP", seed, lossless=True), None
        yield "webp with P3, turned", WEBP, saved(whole, "WEBP", lossless=True, icc_profile=P3,
                                                  exif=exif(seed % 8 + 1)), None
        yield "bmp of Pillow", BMP, saved((flat, gray, palette, flat.convert("1"))[seed % 4], "BMP"), None
        for depth in (1, 4, 8, 16, 24, 32):
            yield "bmp of %d bits" % depth, BMP, *bitmap(whole, depth, top_down=seed % 3 == 0)
        yield "bmp RLE8", BMP, *bitmap(whole, 8, runs=True)
        yield "bmp RLE4", BMP, *bitmap(whole, 4, runs=True)
        yield "bmp with masks", BMP, *bitmap(whole, 32, masks=(0xFF, 0xFF00, 0xFF0000, 0xFF000000))
        yield "bmp 565", BMP, *bitmap(whole, 16, masks=(0xF800, 0x7E0, 0x1F, 0))
        if max(whole.size) <= 256:
            yield "dib of Pillow", DIB, icon_entry(whole), whole
        for depth in (1, 4, 8, 24, 32):
            yield "dib of %d bits" % depth, DIB, *bitmap(whole, depth, icon=True)
