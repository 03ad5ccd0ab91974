/* Arrays, and texture and surface objects: a part of cudart.c (docs/textures.md).
 *
 * An array is memory of the device. The handle of an object is the address of its header, which also lies there.
 */

/* A format of texels: the bits of each channel, and their kind. */
typedef struct { int x, y, z, w, kind; } Channels;
enum { SIGNED = 0, UNSIGNED = 1, FLOAT = 2, NO_KIND = 3, LAST_KIND = 45 };
/* Flags of an array. The last three are of arrays without memory of their own, or that a graphics API uses. */
enum { LAYERED = 1, STORED = 2, CUBE = 4, GATHERED = 8, ATTACHMENT = 0x20, SPARSE = 0x40, DEFERRED = 0x80 };
enum { WRAP = 0, CLAMP = 1, MIRROR = 2, BORDER = 3 };
/* Alignments of memory that a texture reads (properties.rs). */
enum { TEXTURE_ALIGNMENT = 512, PITCH_ALIGNMENT = 32 };

/* What a texture or a surface accesses. */
enum { OF_ARRAY = 0, OF_MIPMAP = 1, OF_LINEAR = 2, OF_PITCHED = 3 };
typedef struct {
    int type;
    union {
        void *array;
        struct { void *at; Channels channels; size_t bytes; } linear;
        struct { void *at; Channels channels; size_t width, height, pitch; } pitched;
#if CUDART >= 13
        int reserved[32];
    };
    unsigned flags;
#else
    };
#endif
} Resource;

/* How a texture is read. CUDA 11 has the last field only in the functions whose names end in _v2. */
typedef struct {
    int modes[3], filter, normalises, srgb;
    uint32_t border[4];
    int has_normalised_coordinates;
    unsigned anisotropy;
    int mipmap_filter;
    float bias, lowest, highest;
    int trilinear, seamless;
} Sampler;

/* An array, a texture or a surface, with its memory on the device: the texels of an array, the header of another (docs/textures.md). */
typedef enum { ARRAY, TEXTURE, SURFACE } What;
typedef struct Held {
    struct Held *next;
    What what;
    Word address;
    /* Of an array. The extent is CUDA's, with zeros for dimensions that it does not have. */
    Channels channels;
    Extent extent;
    unsigned flags;
    /* Of a texture or a surface. */
    Resource resource;
    Sampler sampler;
} Held;

/* An object's handle is the address of its header. An array's is no address, so that it is not taken for memory. */
static Word handle_of(const Held *one) { return one->what == ARRAY ? one->address | (Word)1 << 63 : one->address; }

/* Allocates memory with its first contents, or with zeros, for an array or an object, and notes it. */
static Error hold(const Held *what, size_t size, const void *contents, Word *handle) {
    Word address[1];
    Held *new = malloc(sizeof *new);
    if (!new) return OUT_OF_MEMORY;
    Error error = ASK(CALL_ALLOCATE, address, size);
    if (error == SUCCESS && contents && (error = request(CALL_WRITE, WORDS(address[0]), contents, size, NULL, 0, NULL, 0, NULL)) != SUCCESS) {
        TELL(CALL_FREE, address[0]);
    }
    if (error != SUCCESS) {
        free(new);
        return error;
    }
    *new = *what;
    new->address = address[0];
    *handle = handle_of(new);
    pthread_mutex_lock(&lock);
    new->next = held, held = new;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

/* Finds what a handle stands for, and forgets it if it is to be dropped. */
static int find_held(What what, Word handle, Held *into, int drop) {
    pthread_mutex_lock(&lock);
    Held **link = &held;
    while (*link && ((*link)->what != what || handle_of(*link) != handle)) link = &(*link)->next;
    Held *found = *link;
    if (found) *into = *found;
    if (found && drop) {
        *link = found->next;
        free(found);
    }
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

/* Frees what a handle stands for. */
static Error drop(What what, Word handle, Error unknown) {
    Held one;
    return find_held(what, handle, &one, 1) ? TELL(CALL_FREE, one.address) : unknown;
}

static void drop_all(void) {
    pthread_mutex_lock(&lock);
    while (held) {
        Held *first = held;
        held = first->next;
        free(first);
    }
    pthread_mutex_unlock(&lock);
}

/* Whether memory is that of an array or an object, which only its own function frees. */
static int is_held(const void *pointer) {
    int found = 0;
    pthread_mutex_lock(&lock);
    for (Held *one = held; one; one = one->next) found |= one->address == ADDRESS(pointer);
    pthread_mutex_unlock(&lock);
    return found;
}

static Error array_of(const void *handle, Held *array) {
    if (!handle) return INVALID_VALUE;
    return find_held(ARRAY, ADDRESS(handle), array, 0) ? broken : BAD_HANDLE;
}

static size_t channels_of(const Channels *channels) {
    return (size_t)((channels->x != 0) + (channels->y != 0) + (channels->z != 0) + (channels->w != 0));
}
static size_t texel_of(const Channels *channels) { return channels_of(channels) * (size_t)channels->x / 8; }

/* Whether texels can have this format: 1, 2 or 4 channels of the same size. */
static Error check_channels(const Channels *channels) {
    const int bits[] = { channels->x, channels->y, channels->z, channels->w };
    size_t count = channels_of(channels);
    if (channels->kind > NO_KIND && channels->kind <= LAST_KIND) return refuse("a format of texels that is compressed, planar or normalised");
    if (channels->kind < SIGNED || channels->kind > FLOAT || (count != 1 && count != 2 && count != 4)) return BAD_CHANNELS;
    for (size_t i = 0; i < count; i++) if (bits[i] != bits[0]) return BAD_CHANNELS;
    if (bits[0] == 16 || bits[0] == 32) return SUCCESS;
    return bits[0] == 8 && channels->kind != FLOAT ? SUCCESS : BAD_CHANNELS;
}

/* Whether an extent is within limits of the device: the numbers of three attributes, 0 where the extent has to be 0. */
static Error check_limits(Extent extent, const short *limits) {
    const size_t sizes[] = { extent.width, extent.height, extent.depth };
    for (int i = 0; i < 3; i++) {
        Word most[1] = { 0 };
        Error error = limits[i] ? ASK(CALL_DEVICE_ATTRIBUTE, most, (Word)limits[i]) : SUCCESS;
        if (error != SUCCESS) return error;
        if (sizes[i] > most[0] || (limits[i] && sizes[i] == 0)) return INVALID_VALUE;
    }
    return SUCCESS;
}
#define LIMITS(...) ((const short[3]){ __VA_ARGS__ })

static Error check_array(Extent extent, unsigned flags) {
    enum { LINE, PLANE, BOX, LINES, PLANES, FACES, ALL_FACES };
    /* For textures, and for surfaces. */
    static const short limits[][2][3] = {
        [LINE] = { { 21 }, { 55 } }, [PLANE] = { { 22, 23 }, { 56, 57 } }, [BOX] = { { 24, 25, 26 }, { 58, 59, 60 } },
        [LINES] = { { 42, 0, 43 }, { 61, 0, 62 } }, [PLANES] = { { 27, 28, 29 }, { 63, 64, 65 } },
        [FACES] = { { 52, 52 }, { 66, 66 } }, [ALL_FACES] = { { 53, 53, 54 }, { 67, 67, 68 } },
    };
    int is_cube = (flags & CUBE) != 0, is_layered = (flags & LAYERED) != 0;
    int shape = extent.depth ? BOX : extent.height ? PLANE : LINE;
    if (is_layered) shape = extent.height ? PLANES : LINES;
    if (is_cube) shape = is_layered ? ALL_FACES : FACES;
    if (is_cube && (extent.width != extent.height || extent.depth % 6 != 0)) return INVALID_VALUE;
    if (shape == FACES) {
        if (extent.depth != 6) return INVALID_VALUE;
        extent.depth = 0;
    }
    if ((flags & GATHERED) && shape != PLANE) return INVALID_VALUE;
    Error error = check_limits(extent, flags & GATHERED ? LIMITS(45, 46) : limits[shape][0]);
    if (error == INVALID_VALUE && shape == BOX) error = check_limits(extent, LIMITS(47, 48, 49));
    return error == SUCCESS && (flags & STORED) ? check_limits(extent, limits[shape][1]) : error;
}

API Channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return (Channels){ x, y, z, w, kind }; }

static size_t at_least_one(size_t size) { return size ? size : 1; }

API Error cudaMalloc3DArray(void **array, const Channels *channels, Extent extent, unsigned flags) {
    Word handle;
    if (!array || !channels) return done(INVALID_VALUE);
    *array = NULL;
    Error error = check_unrecorded();
    if (error != SUCCESS) return done(error);
    if (flags & (ATTACHMENT | SPARSE | DEFERRED)) return refuse("an array that is sparse, that gets its memory later, or of a graphics API");
    if (flags & ~(unsigned)(LAYERED | STORED | CUBE | GATHERED)) return done(INVALID_VALUE);
    error = check_channels(channels);
    if (error == SUCCESS) error = check_array(extent, flags);
    if (error != SUCCESS) return done(error);
    size_t size = extent.width * at_least_one(extent.height) * at_least_one(extent.depth) * texel_of(channels);
    error = hold(&(Held){ .what = ARRAY, .channels = *channels, .extent = extent, .flags = flags }, size, NULL, &handle);
    if (error == SUCCESS) *array = (void *)(uintptr_t)handle;
    return done(error);
}
API Error cudaMallocArray(void **array, const Channels *channels, size_t width, size_t height, unsigned flags) {
    return cudaMalloc3DArray(array, channels, (Extent){ width, height, 0 }, flags);
}
API Error cudaFreeArray(void *array) {
    Error error = array ? check_unrecorded() : broken;
    return done(array && error == SUCCESS ? drop(ARRAY, ADDRESS(array), BAD_HANDLE) : error);
}

API Error cudaArrayGetInfo(Channels *channels, Extent *extent, unsigned *flags, const void *array) {
    Held found;
    Error error = array_of(array, &found);
    if (error != SUCCESS) return done(error);
    if (channels) *channels = found.channels;
    if (extent) *extent = found.extent;
    if (flags) *flags = found.flags;
    return SUCCESS;
}
API Error cudaGetChannelDesc(Channels *channels, const void *array) {
    return channels ? cudaArrayGetInfo(channels, NULL, NULL, array) : done(INVALID_VALUE);
}

/* Rows lie one after the other, without gaps. */
static Pitched box_of(const Held *array) {
    size_t row = array->extent.width * texel_of(&array->channels);
    return (Pitched){ (void *)(uintptr_t)array->address, row, row, at_least_one(array->extent.height) };
}

static int is_inside(size_t from, size_t size, size_t whole) { return size <= whole && from <= whole - size; }

/* A side of a copy that is an array becomes memory with a pitch; its place gets bytes in place of texels. */
static Error place_in(const Held *array, Position *from, Extent texels, Pitched *at) {
    if (at->at || !is_inside(from->x, texels.width, array->extent.width) || !is_inside(from->y, texels.height, at_least_one(array->extent.height))
        || !is_inside(from->z, texels.depth, at_least_one(array->extent.depth))) return INVALID_VALUE;
    *at = box_of(array);
    from->x *= texel_of(&array->channels);
    return SUCCESS;
}

/* Copies, or only checks. A copy in which an array takes part has the width of its box in texels. */
static Error copy_3d(Copy3D how, int only_check) {
    Held from, to;
    Extent texels = how.extent;
    if (texels.width == 0 || texels.height == 0 || texels.depth == 0) return broken;
    Error error = how.from_array ? array_of(how.from_array, &from) : SUCCESS;
    if (error == SUCCESS && how.to_array) error = array_of(how.to_array, &to);
    if (error != SUCCESS) return error;
    size_t texel = how.to_array ? texel_of(&to.channels) : how.from_array ? texel_of(&from.channels) : 1;
    if (how.from_array && texel_of(&from.channels) != texel) return INVALID_VALUE;
    how.extent.width *= texel;
    if (how.from_array) error = place_in(&from, &how.from, texels, &how.from_at);
    if (error == SUCCESS && how.to_array) error = place_in(&to, &how.to, texels, &how.to_at);
    return error == SUCCESS ? copy_box(how.to_at, how.to, how.from_at, how.from, how.extent, how.kind, only_check) : error;
}
static Operation box_as_told(const Copy3D *how) {
    if (!how) return wrong(INVALID_VALUE);
    Copy3D corrected = *how;
    int kind = how->kind;
    /* Arrays are on the device, whatever the direction says. */
    if (how->to_array) kind = kind == HOST_TO_HOST ? TO_DEVICE : kind == TO_HOST ? DEVICE_TO_DEVICE : kind;
    if (how->from_array) kind = kind == HOST_TO_HOST ? TO_HOST : kind == TO_DEVICE ? DEVICE_TO_DEVICE : kind;
    corrected.kind = kind;
    return (Operation){ .type = COPY_NODE, .copy = { .box = corrected } };
}
API Error cudaMemcpy3D(const Copy3D *how) { return at_once(box_as_told(how)); }
API Error cudaMemcpy3DAsync(const Copy3D *how, void *stream) { return in_stream(stream, box_as_told(how)); }

/* The two-dimensional copies count bytes of an array's rows. */
static Error in_texels(const void *array, size_t *from, size_t *width) {
    Held found;
    Error error = array_of(array, &found);
    if (error != SUCCESS) return error;
    size_t texel = texel_of(&found.channels);
    if (*from % texel || *width % texel) return INVALID_VALUE;
    *from /= texel, *width /= texel;
    return SUCCESS;
}
/* A direction that leads to an array, or from one. */
static int leads(int kind, int other) { return kind == other || kind == DEVICE_TO_DEVICE || kind == ANY_DIRECTION; }

/* The pitch of a single row does not matter, since nothing lies behind it: programs give 0. */
static Error check_pitch(size_t *pitch, size_t width, size_t height) {
    if (height == 1 && *pitch < width) *pitch = width;
    return width > *pitch ? BAD_PITCH : SUCCESS;
}

static Operation plane_to(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind) {
    if (width == 0 || height == 0) return wrong(broken);
    if (!leads(kind, TO_DEVICE)) return wrong(BAD_DIRECTION);
    Error error = check_pitch(&pitch, width, height);
    if (error == SUCCESS) error = in_texels(array, &x, &width);
    if (error != SUCCESS) return wrong(error);
    Pitched box = { (void *)(uintptr_t)from, pitch, pitch, height };
    Copy3D how = { .to_array = array, .to = { x, y, 0 }, .from_at = box, .extent = { width, height, 1 }, .kind = kind };
    return (Operation){ .type = COPY_NODE, .copy = { .box = how } };
}
static Operation plane_from(void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width, size_t height, int kind) {
    if (width == 0 || height == 0) return wrong(broken);
    if (!leads(kind, TO_HOST)) return wrong(BAD_DIRECTION);
    Error error = check_pitch(&pitch, width, height);
    if (error == SUCCESS) error = in_texels(array, &x, &width);
    if (error != SUCCESS) return wrong(error);
    Pitched box = { to, pitch, pitch, height };
    Copy3D how = { .from_array = array, .from = { x, y, 0 }, .to_at = box, .extent = { width, height, 1 }, .kind = kind };
    return (Operation){ .type = COPY_NODE, .copy = { .box = how } };
}
API Error cudaMemcpy2DToArray(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind) {
    return at_once(plane_to(array, x, y, from, pitch, width, height, kind));
}
API Error cudaMemcpy2DFromArray(void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width, size_t height, int kind) {
    return at_once(plane_from(to, pitch, array, x, y, width, height, kind));
}
API Error cudaMemcpy2DArrayToArray(void *to, size_t to_x, size_t to_y, const void *from, size_t from_x, size_t from_y, size_t width, size_t height,
                                   int kind) {
    size_t same = width;
    if (width == 0 || height == 0) return done(broken);
    if (!leads(kind, DEVICE_TO_DEVICE)) return done(BAD_DIRECTION);
    Error error = in_texels(to, &to_x, &width);
    if (error == SUCCESS) error = in_texels(from, &from_x, &same);
    if (error != SUCCESS) return done(error);
    Copy3D how = { .from_array = from, .from = { from_x, from_y, 0 }, .to_array = to, .to = { to_x, to_y, 0 }, .kind = kind };
    how.extent = (Extent){ width, height, 1 };
    return at_once((Operation){ .type = COPY_NODE, .copy = { .box = how } });
}
API Error cudaMemcpy2DToArrayAsync(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind,
                                   void *stream) {
    return in_stream(stream, plane_to(array, x, y, from, pitch, width, height, kind));
}
API Error cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width, size_t height, int kind,
                                     void *stream) {
    return in_stream(stream, plane_from(to, pitch, array, x, y, width, height, kind));
}

/* `size` bytes of the first plane of an array, from a place in a row on to the end of the row and the rows after it. */
static Error bytes_of(const void *handle, size_t x, size_t y, size_t size, void **at) {
    Held array;
    Error error = array_of(handle, &array);
    if (error != SUCCESS) return error;
    Pitched box = box_of(&array);
    size_t texel = texel_of(&array.channels);
    if (x % texel || size % texel || x >= box.pitch || y >= box.height) return INVALID_VALUE;
    if (!is_inside(y * box.pitch + x, size, box.pitch * box.height)) return INVALID_VALUE;
    *at = (char *)box.at + y * box.pitch + x;
    return SUCCESS;
}
static Operation line_to(void *array, size_t x, size_t y, const void *from, size_t size, int kind) {
    void *to;
    if (size == 0) return wrong(broken);
    if (!leads(kind, TO_DEVICE)) return wrong(BAD_DIRECTION);
    Error error = bytes_of(array, x, y, size, &to);
    return error == SUCCESS ? line(to, from, size, kind) : wrong(error);
}
static Operation line_from(void *to, const void *array, size_t x, size_t y, size_t size, int kind) {
    void *from;
    if (size == 0) return wrong(broken);
    if (!leads(kind, TO_HOST)) return wrong(BAD_DIRECTION);
    Error error = bytes_of(array, x, y, size, &from);
    return error == SUCCESS ? line(to, from, size, kind) : wrong(error);
}
API Error cudaMemcpyToArray(void *array, size_t x, size_t y, const void *from, size_t size, int kind) {
    return at_once(line_to(array, x, y, from, size, kind));
}
API Error cudaMemcpyFromArray(void *to, const void *array, size_t x, size_t y, size_t size, int kind) {
    return at_once(line_from(to, array, x, y, size, kind));
}
API Error cudaMemcpyArrayToArray(void *to, size_t to_x, size_t to_y, const void *from, size_t from_x, size_t from_y, size_t size, int kind) {
    void *target;
    if (size == 0) return done(broken);
    if (!leads(kind, DEVICE_TO_DEVICE)) return done(BAD_DIRECTION);
    Error error = bytes_of(to, to_x, to_y, size, &target);
    return error == SUCCESS ? cudaMemcpyFromArray(target, from, from_x, from_y, size, kind) : done(error);
}
API Error cudaMemcpyToArrayAsync(void *array, size_t x, size_t y, const void *from, size_t size, int kind, void *stream) {
    return in_stream(stream, line_to(array, x, y, from, size, kind));
}
API Error cudaMemcpyFromArrayAsync(void *to, const void *array, size_t x, size_t y, size_t size, int kind, void *stream) {
    return in_stream(stream, line_from(to, array, x, y, size, kind));
}

/* The texels of a resource. */
typedef struct { Pitched box; Extent extent; Channels channels; unsigned flags; } Texels;

/* Memory of `size` bytes that a texture reads. */
static Error check_memory(const void *at, size_t size) {
    Word place;
    if (ADDRESS(at) % TEXTURE_ALIGNMENT) return INVALID_VALUE;
    Error error = place_of(at, size, &place);
    return error == SUCCESS && place == PROGRAM ? INVALID_VALUE : error;
}

static Error texels_of(const Resource *resource, Texels *texels) {
    Held array;
    Error error;
#if CUDART >= 13
    if (resource->flags) return INVALID_VALUE;
#endif
    switch (resource->type) {
    case OF_ARRAY:
        error = array_of(resource->array, &array);
        if (error == SUCCESS) *texels = (Texels){ box_of(&array), array.extent, array.channels, array.flags };
        return error;
    case OF_MIPMAP: return refuse("a texture or a surface of a mipmapped array");
    case OF_LINEAR: {
        error = check_channels(&resource->linear.channels);
        if (error != SUCCESS) return error;
        size_t width = resource->linear.bytes / texel_of(&resource->linear.channels), row = width * texel_of(&resource->linear.channels);
        *texels = (Texels){ { resource->linear.at, row, row, 1 }, { width, 0, 0 }, resource->linear.channels, 0 };
        error = check_limits(texels->extent, LIMITS(69));
        return error == SUCCESS ? check_memory(resource->linear.at, resource->linear.bytes) : error;
    }
    case OF_PITCHED: {
        error = check_channels(&resource->pitched.channels);
        if (error != SUCCESS) return error;
        size_t pitch = resource->pitched.pitch, height = resource->pitched.height;
        *texels = (Texels){ { resource->pitched.at, pitch, pitch, height }, { resource->pitched.width, height, 0 }, resource->pitched.channels, 0 };
        error = check_limits(texels->extent, LIMITS(70, 71));
        if (error == SUCCESS) error = check_limits((Extent){ pitch, 0, 0 }, LIMITS(72));
        if (error != SUCCESS) return error;
        size_t row = texels->extent.width * texel_of(&texels->channels);
        if (row > pitch || pitch % PITCH_ALIGNMENT) return INVALID_VALUE;
        return check_memory(resource->pitched.at, (height - 1) * pitch + row);
    }
    default: return INVALID_VALUE;
    }
}

/* Whether integers are read as floats: those of 32 bits never are. */
static int reads_as_floats(const Channels *channels, const Sampler *sampler) { return sampler->normalises && channels->kind != FLOAT && channels->x < 32; }

/* Address modes and the filter are for other memory than linear one. An array has one level, so that nothing depends on the levels' fields. */
static Error check_sampler(const Sampler *sampler, const Texels *texels, int is_linear) {
    if (sampler->srgb) return refuse("a texture with sRGB");
    if (sampler->anisotropy > 1) return refuse("a texture with an anisotropic filter");
    if (sampler->normalises & ~1) return INVALID_VALUE;
    if (sampler->seamless && !(texels->flags & CUBE)) return INVALID_VALUE;
    if (is_linear) return SUCCESS;
    for (int i = 0; i < 3; i++) if (sampler->modes[i] < WRAP || sampler->modes[i] > BORDER) return INVALID_VALUE;
    if (sampler->filter & ~1) return INVALID_VALUE;
    if (sampler->filter && texels->channels.kind != FLOAT && !reads_as_floats(&texels->channels, sampler)) return BAD_FILTER;
    return sampler->filter && sampler->seamless ? refuse("a linear filter across the edges of a cube map (seamlessCubemap)") : SUCCESS;
}

/* Bits of word 2 of a header. */
enum { KIND_AT = 4, NORMALISES = 1 << 6, LINEAR_FILTER = 1 << 7, NORMALISED_COORDINATES = 1 << 8, MODES_AT = 10 };

static uint32_t format_of(const Channels *channels) {
    uint32_t size = channels->x == 8 ? 0 : channels->x == 16 ? 1 : 2, kind = channels->kind == FLOAT ? 2 : channels->kind == SIGNED;
    return size | (uint32_t)(channels_of(channels) - 1) << 2 | kind << KIND_AT;
}

static uint32_t sampling_of(const Sampler *sampler, const Channels *channels, int is_linear) {
    uint32_t bits = reads_as_floats(channels, sampler) ? NORMALISES : 0;
    if (is_linear) return bits | 0x3f << MODES_AT;
    if (sampler->filter) bits |= LINEAR_FILTER;
    if (sampler->has_normalised_coordinates) bits |= NORMALISED_COORDINATES;
    for (int i = 0; i < 3; i++) {
        int mode = sampler->modes[i], repeats = mode == WRAP || mode == MIRROR;
        bits |= (uint32_t)(repeats && !sampler->has_normalised_coordinates ? CLAMP : mode) << (MODES_AT + 2 * i);
    }
    return bits;
}

/* Makes a texture, or a surface, which has no sampler. */
static Error create_object(Word *object, const Resource *resource, const Sampler *sampler) {
    Texels texels = { .flags = 0 };
    if (!object || !resource) return INVALID_VALUE;
    int is_linear = resource->type == OF_LINEAR;
    Error error = texels_of(resource, &texels);
    if (error == SUCCESS) error = sampler ? check_sampler(sampler, &texels, is_linear) : texels.flags & STORED ? SUCCESS : INVALID_VALUE;
    if (error != SUCCESS) return error;
    Word at = ADDRESS(texels.box.at);
    uint32_t header[16] = {
        (uint32_t)at, (uint32_t)(at >> 32), format_of(&texels.channels),
        (uint32_t)texels.extent.width, (uint32_t)at_least_one(texels.extent.height), (uint32_t)at_least_one(texels.extent.depth),
        (uint32_t)texels.box.pitch, (uint32_t)(texels.box.pitch * texels.box.height),
    };
    if (sampler) {
        header[2] |= sampling_of(sampler, &texels.channels, is_linear);
        if (!is_linear) memcpy(header + 8, sampler->border, 4 * channels_of(&texels.channels));
    }
    Held new = { .what = sampler ? TEXTURE : SURFACE, .resource = *resource };
    if (sampler) new.sampler = *sampler;
    return hold(&new, sizeof header, header, object);
}

static Error create_texture(Word *texture, const Resource *resource, const Sampler *sampler, size_t size, const void *view) {
    Sampler whole = { 0 };
    if (!sampler || !resource || (view && resource->type != OF_ARRAY && resource->type != OF_MIPMAP)) return done(INVALID_VALUE);
    if (view) return refuse("a texture with a view of a resource");
    memcpy(&whole, sampler, size);
    return done(create_object(texture, resource, &whole));
}
/* Size of the structure that cudaCreateTextureObject gets. */
enum { SAMPLER_BYTES = CUDART == 11 ? offsetof(Sampler, seamless) : sizeof(Sampler) };
API Error cudaCreateTextureObject(Word *texture, const Resource *resource, const Sampler *sampler, const void *view) {
    return create_texture(texture, resource, sampler, SAMPLER_BYTES, view);
}
API Error cudaDestroyTextureObject(Word texture) { return done(drop(TEXTURE, texture, INVALID_VALUE)); }
API Error cudaCreateSurfaceObject(Word *surface, const Resource *resource) { return done(create_object(surface, resource, NULL)); }
API Error cudaDestroySurfaceObject(Word surface) { return done(drop(SURFACE, surface, INVALID_VALUE)); }

static Error resource_of(What what, Word handle, Resource *resource) {
    Held found;
    if (!resource || !find_held(what, handle, &found, 0)) return done(INVALID_VALUE);
    *resource = found.resource;
    return done(broken);
}
API Error cudaGetTextureObjectResourceDesc(Resource *resource, Word texture) { return resource_of(TEXTURE, texture, resource); }
API Error cudaGetSurfaceObjectResourceDesc(Resource *resource, Word surface) { return resource_of(SURFACE, surface, resource); }
static Error sampler_of(Word texture, Sampler *sampler, size_t size) {
    Held found;
    if (!sampler || !find_held(TEXTURE, texture, &found, 0)) return done(INVALID_VALUE);
    memcpy(sampler, &found.sampler, size);
    return done(broken);
}
API Error cudaGetTextureObjectTextureDesc(Sampler *sampler, Word texture) { return sampler_of(texture, sampler, SAMPLER_BYTES); }
/* No texture has a view. */
API Error cudaGetTextureObjectResourceViewDesc(void *view, Word texture) { (void)view, (void)texture; return done(INVALID_VALUE); }
#if CUDART == 11
API Error cudaCreateTextureObject_v2(Word *texture, const Resource *resource, const Sampler *sampler, const void *view) {
    return create_texture(texture, resource, sampler, sizeof(Sampler), view);
}
API Error cudaGetTextureObjectTextureDesc_v2(Sampler *sampler, Word texture) { return sampler_of(texture, sampler, sizeof(Sampler)); }
#endif

API Error cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const Channels *channels, int device) {
    Word most[1];
    if (!width || !channels) return done(INVALID_VALUE);
    if (device) return done(INVALID_DEVICE);
    Error error = check_channels(channels);
    if (error == SUCCESS) error = ASK(CALL_DEVICE_ATTRIBUTE, most, 69);
    if (error == SUCCESS) *width = most[0];
    return done(error);
}
