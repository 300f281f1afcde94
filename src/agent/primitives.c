/*
 * The only file that includes dnnl.h: a thin wrapper of the C API of oneDNN 2.x.
 *
 * Every primitive uses scratch memory of ours, one block per slot that is large enough for all of them: oneDNN's own would be
 * shared by threads. A primitive keeps one memory object per slot and argument, and only their pointers change.
 */
#define _GNU_SOURCE

#include "agent/primitives.h"

#include <dlfcn.h>
#include <dnnl.h>
#include <strings.h>
#include <sys/mman.h>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

#define ALIGNMENT ((size_t)64)
#define LARGE_PAGE ((size_t)2 << 20)

/* The address of the block stands before the start, so that no caller has to keep it. Large pages are a hint only: without them
 * the result is the same, but slower. */
void *ocdm__allocate_aligned(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - 2 * ALIGNMENT) / size)
        return NULL;
    size_t bytes = count * size + 2 * ALIGNMENT;
    unsigned char *block = ocdm__allocate(bytes, 1);
    if (block == NULL)
        return NULL;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    size_t skipped = (LARGE_PAGE - (uintptr_t)block % LARGE_PAGE) % LARGE_PAGE;
    if (bytes >= skipped + LARGE_PAGE)
        (void)madvise(block + skipped, (bytes - skipped) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
#endif
    unsigned char *start = block + 2 * ALIGNMENT - (uintptr_t)block % ALIGNMENT;
    memcpy(start - sizeof block, &block, sizeof block);
    return start;
}

/* NULL is fine. */
void ocdm__release_aligned(void *start)
{
    if (start == NULL)
        return;
    void *block;
    memcpy(&block, (unsigned char *)start - sizeof block, sizeof block);
    ocdm__release(block);
}

/* Contents are not kept: what needs room here is written anew in each pass. */
bool ocdm__reserve_aligned(void *block, size_t *room, size_t needed, size_t size)
{
    void *start;
    if (needed <= *room)
        return true;
    memcpy(&start, block, sizeof start); /* the caller's pointer has another type than void * */
    ocdm__release_aligned(start);
    start = ocdm__allocate_aligned(needed, size);
    *room = start != NULL ? needed : 0;
    memcpy(block, &start, sizeof start);
    return start != NULL;
}

/* ---- AMX ------------------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__) && defined(__linux__)

/* False where AMX is reported and cannot be used. Some virtual machines pass on its flag but hide the leaf that describes its
 * tiles (oneDNN would then configure none, and its first instruction is illegal), and Linux requires a request for the
 * tiles' state. */
static bool amx_is_usable(void)
{
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & (1u << 24)))
        return true;
    if (!__get_cpuid_count(0x1D, 0, &a, &b, &c, &d) || a == 0)
        return false;
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

#else

static bool amx_is_usable(void)
{
    return true;
}

#endif

/* Whether oneDNN's own environment variables disable AMX. */
static bool environment_disables_amx(void)
{
    static const char *const lesser[] = {
        "SSE41",           "AVX", "AVX2", "AVX2_VNNI", "AVX512_MIC", "AVX512_MIC_4OPS", "AVX512_CORE", "AVX512_CORE_VNNI",
        "AVX512_CORE_BF16"};
    const char *wanted = getenv("ONEDNN_MAX_CPU_ISA");
    if (wanted == NULL)
        wanted = getenv("DNNL_MAX_CPU_ISA");
    for (size_t i = 0; wanted != NULL && i < sizeof lesser / sizeof *lesser; i++)
        if (strcasecmp(wanted, lesser[i]) == 0)
            return true;
    return false;
}

/* ---- devices --------------------------------------------------------------------------------------------------------- */

enum { ARGUMENTS = 3 };

struct ocdm__layout {
    dnnl_memory_desc_t desc;
};

struct slot {
    dnnl_stream_t stream;
    void *scratch;
    size_t scratch_size;
};

struct ocdm__device {
    dnnl_engine_t engine;
    dnnl_primitive_attr_t attributes;
    struct slot *slots;
    unsigned slot_count;
};

struct ocdm__op {
    ocdm__device *device;
    dnnl_primitive_desc_t description;
    dnnl_primitive_t primitive;
    const struct kind *kind;
    dnnl_memory_t *memories; /* slot by slot: the arguments, then the scratch */
    ocdm__layout weights;
    size_t workspace;
};

/* The next call of oneDNN, unless one before it has failed. */
#define THEN(status, ...)                                                                                                      \
    do {                                                                                                                       \
        if ((status) == dnnl_success)                                                                                          \
            (status) = (__VA_ARGS__);                                                                                          \
    } while (0)

static ocdm_status failed(ocdm_error *error, dnnl_status_t status, const char *what)
{
    if (status == dnnl_out_of_memory)
        return ocdm__fail_memory(error, what);
    return ocdm__fail(error, OCDM_BAD_ARGUMENT, "another image size or precision may work", "oneDNN cannot make %s (status %d)",
                      what, (int)status);
}

/* ---- calls of oneDNN ------------------------------------------------------------------------------------------------- */

static _Thread_local const char *volatile task;

const char *ocdm__device_task(void)
{
    return task;
}

/* Between these two oneDNN is at work for the calling thread. errno starts from 0, so that ENOMEM means in between that the
 * system has refused it memory. */
static void enter(const char *what)
{
    errno = 0;
    task = what;
}

static void leave(void)
{
    task = NULL;
}

/* ---- the CPU -------------------------------------------------------------------------------------------------------- */

/* What oneDNN may use, best first. `blocks`: f32 images are fastest with their channels in blocks. */
static const struct instructions {
    const char *name;
    dnnl_cpu_isa_t isa;
    bool blocks, bf16;
} instructions[] = {
    {"AMX", dnnl_cpu_isa_avx512_core_amx, true, true},       {"AVX-512 with bf16", dnnl_cpu_isa_avx512_core_bf16, true, true},
    {"AVX-512", dnnl_cpu_isa_avx512_core_vnni, true, false}, {"AVX-512", dnnl_cpu_isa_avx512_core, true, false},
    {"AVX2", dnnl_cpu_isa_avx2_vnni, false, false},          {"AVX2", dnnl_cpu_isa_avx2, false, false},
    {"SSE4.1 or AVX", dnnl_cpu_isa_all, false, false}};

/* oneDNN may know more than the table; the last row stands for everything else. It chooses its instructions at the first
 * primitive; before that AMX can be disabled, where the CPU reports it and it cannot be used. Where it can, this requests the
 * state of its tiles from the system. */
static const struct instructions *instructions_in_use(void)
{
    const struct instructions *used = instructions;
    if (!amx_is_usable() && !environment_disables_amx())
        (void)dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16);
    while (used->isa != dnnl_cpu_isa_all && used->isa != dnnl_get_effective_cpu_isa())
        used++;
    return used;
}

const char *ocdm__device_instructions(void)
{
    return instructions_in_use()->name;
}

bool ocdm__device_blocks(bool bf16)
{
    return instructions_in_use()->blocks && !bf16;
}

/* The OpenMP runtime that oneDNN loaded, if any, found by name: the program itself is not built with OpenMP. */
static void openmp_function(const char *name, void *function, size_t size)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, size);
}

/* Threads are ours: a primitive that started its own would fight with them for the cores. */
int ocdm__single_thread(void)
{
    int (*limit)(void) = NULL;
    openmp_function("omp_get_max_threads", &limit, sizeof limit);
    int before = limit != NULL ? limit() : 0;
    ocdm__restore_threads(1);
    return before;
}

/* 0: there is no OpenMP in this process. */
void ocdm__restore_threads(int before)
{
    void (*set)(int) = NULL;
    openmp_function("omp_set_num_threads", &set, sizeof set);
    if (set == NULL || before <= 0)
        return;
    enter("a setting of its threads"); /* allocated for each thread, at the first call */
    set(before);
    leave();
}

/* ---- the device ----------------------------------------------------------------------------------------------------- */

/* Primitives are gone by then. */
void ocdm__device_destroy(ocdm__device *device)
{
    if (device == NULL)
        return;
    for (unsigned i = 0; device->slots != NULL && i < device->slot_count; i++) {
        (void)dnnl_stream_destroy(device->slots[i].stream);
        ocdm__release_aligned(device->slots[i].scratch);
    }
    ocdm__release(device->slots);
    (void)dnnl_primitive_attr_destroy(device->attributes);
    (void)dnnl_engine_destroy(device->engine);
    ocdm__release(device);
}

/* bf16 is refused where the CPU has no instructions for it. A stream for each slot, so that threads never share one. */
ocdm_status ocdm__device_create(unsigned slots, bool bf16, ocdm__device **device, ocdm_error *error)
{
    if (!instructions_in_use()->bf16 && bf16)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "use f32; bf16 needs AVX-512 with bf16, or AMX",
                          "precision bf16: this CPU has no bf16 instructions that oneDNN can use (it has %s)",
                          ocdm__device_instructions());
    ocdm__device *made;
    OCDM_TRY(ocdm__new(&made, 1, sizeof *made, "oneDNN's engine", error));
    made->slot_count = slots;
    made->slots = ocdm__allocate(slots, sizeof *made->slots);
    enter("its engine");
    dnnl_status_t status = made->slots != NULL ? dnnl_engine_create(&made->engine, dnnl_cpu, 0) : dnnl_out_of_memory;
    THEN(status, dnnl_primitive_attr_create(&made->attributes));
    THEN(status, dnnl_primitive_attr_set_scratchpad_mode(made->attributes, dnnl_scratchpad_mode_user));
    for (unsigned i = 0; i < slots; i++)
        THEN(status, dnnl_stream_create(&made->slots[i].stream, made->engine, dnnl_stream_default_flags));
    leave();
    if (status == dnnl_success) {
        *device = made;
        return OCDM_OK;
    }
    ocdm__device_destroy(made);
    return failed(error, status, "an engine for the CPU");
}

/* ---- making primitives ---------------------------------------------------------------------------------------------- */

/* Also of one that was not finished. */
void ocdm__op_destroy(ocdm__op *op)
{
    if (op == NULL)
        return;
    size_t count = op->memories != NULL ? (size_t)op->device->slot_count * (ARGUMENTS + 1) : 0;
    for (size_t i = 0; i < count; i++)
        (void)dnnl_memory_destroy(op->memories[i]);
    ocdm__release(op->memories);
    if (op->primitive != NULL)
        (void)dnnl_primitive_destroy(op->primitive);
    if (op->description != NULL)
        (void)dnnl_primitive_desc_destroy(op->description);
    ocdm__release(op);
}

enum { PRODUCT = OCDM__POOL_BACKWARD + 1, COPY };

/* The arguments of each kind in the order of ocdm__op_run, and scratch memory behind them; 0: none. */
static const struct kind {
    int names[ARGUMENTS + 1];
    const char *what;
} kinds[] = {
    [OCDM__CONV_FORWARD] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD}, "a convolution"},
    [OCDM__CONV_DATA] = {{DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC, DNNL_ARG_SCRATCHPAD},
                         "a convolution's gradient"},
    [OCDM__CONV_WEIGHTS] = {{DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_SCRATCHPAD},
                            "the gradient of a convolution's weights"},
    [OCDM__POOL_FORWARD] = {{DNNL_ARG_SRC, DNNL_ARG_WORKSPACE, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD}, "a pooling"},
    [OCDM__POOL_BACKWARD] = {{DNNL_ARG_DIFF_DST, DNNL_ARG_WORKSPACE, DNNL_ARG_DIFF_SRC, DNNL_ARG_SCRATCHPAD},
                             "a pooling's gradient"},
    [PRODUCT] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD}, "a matrix product"},
    [COPY] = {{DNNL_ARG_SRC, 0, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD}, "a copy of weights"},
};

/* What describes argument number i of a primitive. */
static const dnnl_memory_desc_t *argument_of(const ocdm__op *op, size_t i)
{
    return dnnl_primitive_desc_query_md(op->description, dnnl_query_exec_arg_md, op->kind->names[i]);
}

/* Begins a primitive: until finish_op, oneDNN is at work. */
static ocdm_status begin_op(ocdm__device *device, unsigned kind, ocdm__op **op, ocdm_error *error)
{
    *op = ocdm__allocate(1, sizeof **op);
    if (*op == NULL)
        return ocdm__fail_memory(error, kinds[kind].what);
    (*op)->device = device;
    (*op)->kind = &kinds[kind];
    enter(kinds[kind].what);
    return OCDM_OK;
}

/* Completes a primitive if creating its description succeeded, as `status` says. Takes ownership of `op`. oneDNN 2.6 crashes if
 * it cannot allocate memory for the code that it generates, so that is tested first: in most cases of too little memory this
 * gives an error like any other. */
static ocdm_status finish_op(ocdm__op *op, dnnl_status_t status, ocdm__op **made, ocdm_error *error)
{
    const size_t code = (size_t)16 << 20;
    const char *what = op->kind->what;
    void *room = mmap(NULL, code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool fits = room != MAP_FAILED && munmap(room, code) == 0;
    THEN(status, fits ? dnnl_success : dnnl_out_of_memory);
    THEN(status, dnnl_primitive_create(&op->primitive, op->description));
    size_t each = ARGUMENTS + 1, count = op->device->slot_count * each; /* memory objects of every slot */
    op->memories = ocdm__allocate(count, sizeof *op->memories);
    THEN(status, op->memories != NULL ? dnnl_success : dnnl_out_of_memory);
    for (size_t i = 0; i < count; i++)
        if (op->kind->names[i % each] != 0)
            THEN(status, dnnl_memory_create(&op->memories[i], argument_of(op, i % each), op->device->engine, DNNL_MEMORY_NONE));
    /* One block of scratch serves all primitives of a slot, as they run one after the other. */
    size_t size = status == dnnl_success ? dnnl_memory_desc_get_size(argument_of(op, ARGUMENTS)) : 0;
    for (unsigned i = 0; status == dnnl_success && i < op->device->slot_count; i++) {
        struct slot *slot = &op->device->slots[i];
        if (size <= slot->scratch_size)
            continue;
        void *larger = ocdm__allocate_aligned(size, 1); /* those that are made already keep theirs until it is there */
        status = larger != NULL ? dnnl_success : dnnl_out_of_memory;
        if (larger == NULL)
            break;
        ocdm__release_aligned(slot->scratch);
        slot->scratch = larger;
        slot->scratch_size = size;
    }
    if (status == dnnl_runtime_error && errno == ENOMEM) /* of code that could not be made executable */
        status = dnnl_out_of_memory;
    leave();
    if (status == dnnl_success) {
        *made = op;
        return OCDM_OK;
    }
    ocdm__op_destroy(op);
    return failed(error, status, what);
}

/* ---- convolution and pooling ---------------------------------------------------------------------------------------- */

/* The parameters of a convolution or a pooling for oneDNN. */
struct geometry {
    dnnl_memory_desc_t source, weights, target;
    dnnl_dims_t kernel, strides, before, after;
};

/* In plain order as PyTorch has it, or in the order that oneDNN chooses. */
static dnnl_status_t describe_weights(const struct ocdm__conv_shape *shape, dnnl_data_type_t type, bool plain,
                                      dnnl_memory_desc_t *desc)
{
    const struct ocdm__node *node = &shape->node;
    int64_t g = node->depthwise ? node->channels : 1;
    const dnnl_dims_t dense = {node->channels, node->in_channels, node->kernel, node->kernel};
    const dnnl_dims_t grouped = {g, node->channels / g, node->in_channels / g, node->kernel, node->kernel};
    dnnl_format_tag_t tag = !plain ? dnnl_format_tag_any : g > 1 ? dnnl_abcde : dnnl_abcd;
    return dnnl_memory_desc_init_by_tag(desc, g > 1 ? 5 : 4, g > 1 ? grouped : dense, type, tag);
}

/* Sources, targets and weights of a convolution or a pooling, with strides and padding. */
static dnnl_status_t describe(const struct ocdm__conv_shape *shape, enum ocdm__op_kind kind, const ocdm__layout *weights,
                              struct geometry *geometry)
{
    dnnl_data_type_t type = shape->bf16 ? dnnl_bf16 : dnnl_f32;
    const struct ocdm__node *node = &shape->node;
    int64_t images = (int64_t)shape->images;
    const dnnl_dims_t source = {images, node->in_channels, node->in_height, node->in_width};
    const dnnl_dims_t target = {images, node->channels, node->height, node->width};
    for (size_t i = 0; i < 2; i++) {
        geometry->kernel[i] = node->kernel;
        geometry->strides[i] = node->stride;
        geometry->before[i] = node->pad_before;
    }
    geometry->after[0] = node->pad_after_height;
    geometry->after[1] = node->pad_after_width;
    dnnl_format_tag_t blocks = shape->blocked ? dnnl_nChw16c : dnnl_nhwc;
    bool planes = shape->blocked && node->in_channels % 16 != 0;
    dnnl_status_t status = dnnl_memory_desc_init_by_tag(&geometry->source, 4, source, type, planes ? dnnl_nchw : blocks);
    THEN(status, dnnl_memory_desc_init_by_tag(&geometry->target, 4, target, type, blocks));
    if (weights != NULL)
        geometry->weights = weights->desc;
    else if (status == dnnl_success)
        status = describe_weights(shape, kind == OCDM__CONV_WEIGHTS ? dnnl_f32 : type, false, &geometry->weights);
    return status;
}

/* Training, not inference: a pooling then keeps where its maxima were. A backward primitive wants to know the forward one that
 * it belongs to, as `hint`. */
static dnnl_status_t describe_one(const ocdm__device *device, const struct geometry *g, enum ocdm__op_kind kind,
                                  const_dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *made)
{
    const dnnl_memory_desc_t *source = &g->source, *weights = &g->weights, *target = &g->target;
    const dnnl_dim_t *strides = g->strides, *before = g->before, *after = g->after;
    dnnl_convolution_desc_t convolution;
    dnnl_pooling_desc_t pooling;
    const void *desc = &convolution;
    dnnl_status_t status = dnnl_invalid_arguments;
    switch (kind) {
    case OCDM__CONV_FORWARD:
        status = dnnl_convolution_forward_desc_init(&convolution, dnnl_forward_training, dnnl_convolution_direct, source,
                                                    weights, NULL, target, strides, before, after);
        break;
    case OCDM__CONV_DATA:
        status = dnnl_convolution_backward_data_desc_init(&convolution, dnnl_convolution_direct, source, weights, target,
                                                          strides, before, after);
        break;
    case OCDM__CONV_WEIGHTS:
        status = dnnl_convolution_backward_weights_desc_init(&convolution, dnnl_convolution_direct, source, weights, NULL,
                                                             target, strides, before, after);
        break;
    case OCDM__POOL_FORWARD:
        desc = &pooling;
        status = dnnl_pooling_forward_desc_init(&pooling, dnnl_forward_training, dnnl_pooling_max, source, target, strides,
                                                g->kernel, before, after);
        break;
    case OCDM__POOL_BACKWARD:
        desc = &pooling;
        status = dnnl_pooling_backward_desc_init(&pooling, dnnl_pooling_max, source, target, strides, g->kernel, before, after);
        break;
    }
    THEN(status, dnnl_primitive_desc_create(made, desc, device->attributes, device->engine, hint));
    return status;
}

/* The layout of the weights of the forward primitive that is a hint does not matter. */
static dnnl_status_t describe_op(ocdm__op *op, const struct ocdm__conv_shape *shape, enum ocdm__op_kind kind,
                                 const ocdm__layout *weights)
{
    enum ocdm__op_kind way =
        kind == OCDM__POOL_FORWARD || kind == OCDM__POOL_BACKWARD ? OCDM__POOL_FORWARD : OCDM__CONV_FORWARD;
    struct geometry g, free_weights;
    memset(&g, 0, sizeof g);
    memset(&free_weights, 0, sizeof free_weights);
    dnnl_primitive_desc_t hint = NULL;
    dnnl_status_t status = describe(shape, kind, weights, &g);
    if (kind != way) {
        THEN(status, describe(shape, OCDM__CONV_FORWARD, NULL, &free_weights));
        THEN(status, describe_one(op->device, &free_weights, way, NULL, &hint));
    }
    THEN(status, describe_one(op->device, &g, kind, hint, &op->description));
    if (hint != NULL)
        (void)dnnl_primitive_desc_destroy(hint);
    return status;
}

/* Keeps what callers ask for later: the layout of the weights, or the size of the workspace. */
ocdm_status ocdm__conv_create(ocdm__device *device, enum ocdm__op_kind kind, const struct ocdm__conv_shape *shape,
                              const ocdm__layout *weights, ocdm__op **op, ocdm_error *error)
{
    ocdm__op *made;
    OCDM_TRY(begin_op(device, kind, &made, error));
    OCDM_TRY(finish_op(made, describe_op(made, shape, kind, weights), op, error));
    if (kind <= OCDM__CONV_WEIGHTS)
        made->weights.desc = *argument_of(made, kind == OCDM__CONV_WEIGHTS ? 2 : 1);
    else
        made->workspace = dnnl_memory_desc_get_size(argument_of(made, 1));
    return OCDM_OK;
}

/* ---- products and copies -------------------------------------------------------------------------------------------- */

/* f32 sums in either precision. */
ocdm_status ocdm__product_create(ocdm__device *device, const struct ocdm__product_shape *shape, ocdm__op **op,
                                 ocdm_error *error)
{
    ocdm__op *made;
    dnnl_memory_desc_t a, b, c;
    dnnl_matmul_desc_t product;
    dnnl_data_type_t type = shape->bf16 ? dnnl_bf16 : dnnl_f32;
    const dnnl_dims_t a_size = {shape->rows, shape->depth}, b_size = {shape->depth, shape->columns};
    const dnnl_dims_t c_size = {shape->rows, shape->columns};
    OCDM_TRY(begin_op(device, PRODUCT, &made, error));
    dnnl_status_t status = dnnl_memory_desc_init_by_tag(&a, 2, a_size, type, shape->a_turned ? dnnl_ba : dnnl_ab);
    THEN(status, dnnl_memory_desc_init_by_tag(&b, 2, b_size, type, shape->b_turned ? dnnl_ba : dnnl_ab));
    THEN(status, dnnl_memory_desc_init_by_tag(&c, 2, c_size, dnnl_f32, dnnl_ab));
    THEN(status, dnnl_matmul_desc_init(&product, &a, &b, NULL, &c));
    THEN(status, dnnl_primitive_desc_create(&made->description, &product, device->attributes, device->engine, NULL));
    return finish_op(made, status, op, error);
}

/* Copies weights from one layout to another. */
ocdm_status ocdm__reorder_create(ocdm__device *device, const ocdm__layout *from, const ocdm__layout *to, ocdm__op **op,
                                 ocdm_error *error)
{
    ocdm__op *made;
    OCDM_TRY(begin_op(device, COPY, &made, error));
    dnnl_status_t status = dnnl_reorder_primitive_desc_create(&made->description, &from->desc, device->engine, &to->desc,
                                                              device->engine, device->attributes);
    return finish_op(made, status, op, error);
}

/* ---- running -------------------------------------------------------------------------------------------------------- */

/* oneDNN has one kind of pointer for what it reads and what it writes. */
static void *writable(const void *pointer)
{
    void *result;
    memcpy(&result, &pointer, sizeof result);
    return result;
}

/* Only pointers change between runs: the objects around them were made with the primitive. */
ocdm_status ocdm__op_run(ocdm__op *op, unsigned slot, const void *first, const void *second, void *third)
{
    struct slot *own = &op->device->slots[slot];
    dnnl_memory_t *memories = op->memories + (size_t)slot * (ARGUMENTS + 1);
    void *data[ARGUMENTS + 1] = {writable(first), writable(second), third, own->scratch};
    dnnl_exec_arg_t arguments[ARGUMENTS + 1];
    int count = 0;
    for (size_t i = 0; i <= ARGUMENTS; i++) {
        if (memories[i] == NULL)
            continue;
        if (dnnl_memory_set_data_handle(memories[i], data[i]) != dnnl_success)
            return OCDM_NO_MEMORY;
        arguments[count].arg = op->kind->names[i];
        arguments[count++].memory = memories[i];
    }
    enter("a layer's output");
    dnnl_status_t status = dnnl_primitive_execute(op->primitive, own->stream, count, arguments);
    leave();
    return status == dnnl_success ? OCDM_OK : OCDM_NO_MEMORY;
}

const ocdm__layout *ocdm__op_weights(const ocdm__op *op)
{
    return &op->weights;
}

size_t ocdm__op_workspace(const ocdm__op *op)
{
    return op->workspace;
}

/* ---- layouts -------------------------------------------------------------------------------------------------------- */

/* A layout of ours around a description of oneDNN's. */
static ocdm_status make_layout(const dnnl_memory_desc_t *desc, dnnl_status_t status, ocdm__layout **layout, ocdm_error *error)
{
    if (status != dnnl_success)
        return failed(error, status, "a layout");
    *layout = ocdm__allocate(1, sizeof **layout);
    if (*layout == NULL)
        return ocdm__fail_memory(error, "a layout");
    (*layout)->desc = *desc;
    return OCDM_OK;
}

ocdm_status ocdm__layout_plain(const struct ocdm__conv_shape *shape, ocdm__layout **layout, ocdm_error *error)
{
    dnnl_memory_desc_t desc;
    return make_layout(&desc, describe_weights(shape, dnnl_f32, true, &desc), layout, error);
}

ocdm_status ocdm__layout_turned(const struct ocdm__conv_shape *shape, ocdm__layout **layout, ocdm_error *error)
{
    dnnl_memory_desc_t desc;
    const dnnl_dims_t size = {shape->node.channels, shape->node.in_channels, 1, 1};
    return make_layout(&desc, dnnl_memory_desc_init_by_tag(&desc, 4, size, dnnl_f32, dnnl_bacd), layout, error);
}

/* The first `channels` output channels, in the layout of the whole. */
ocdm_status ocdm__layout_slice(const ocdm__layout *whole, int64_t channels, ocdm__layout **layout, ocdm_error *error)
{
    dnnl_memory_desc_t desc;
    dnnl_dims_t size = {0}, origin = {0};
    memcpy(size, whole->desc.dims, sizeof size);
    size[0] = channels;
    return make_layout(&desc, dnnl_memory_desc_init_submemory(&desc, &whole->desc, size, origin), layout, error);
}

ocdm_status ocdm__layout_copy(const ocdm__layout *from, ocdm__layout **layout, ocdm_error *error)
{
    return make_layout(&from->desc, dnnl_success, layout, error);
}

bool ocdm__layout_equal(const ocdm__layout *a, const ocdm__layout *b)
{
    return dnnl_memory_desc_equal(&a->desc, &b->desc) != 0;
}

size_t ocdm__layout_bytes(const ocdm__layout *layout)
{
    return dnnl_memory_desc_get_size(&layout->desc);
}

void ocdm__layout_destroy(ocdm__layout *layout)
{
    ocdm__release(layout);
}

/* oneDNN's sgemm takes rows, as we do. */
ocdm_status ocdm__gemm(const struct ocdm__product_shape *shape, const float *a, const float *b, float *c)
{
    dnnl_dim_t rows = shape->rows, columns = shape->columns, depth = shape->depth;
    enter("a matrix product");
    dnnl_status_t status = dnnl_sgemm(shape->a_turned ? 'T' : 'N', shape->b_turned ? 'T' : 'N', rows, columns, depth, 1.0f, a,
                                      shape->a_turned ? rows : depth, b, shape->b_turned ? depth : columns, 0.0f, c, columns);
    leave();
    return status == dnnl_success ? OCDM_OK : OCDM_NO_MEMORY;
}
