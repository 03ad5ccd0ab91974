// Walsh-Hadamard transforms of a batch of vectors (one a row of the grid), and the product of two spectra. Large strides are
// done in global memory, four elements a thread; the rest within blocks, in dynamic shared memory.
// After fastWalshTransform of the CUDA SDK: hierarchy thesis table 4.2, hybrid paper 6.1.

// One radix-4 stage: elements that are `stride`, 2 `stride` and 3 `stride` apart.
__global__ void fwtGlobal(float *data, int log2N, int stride)
{
    float *vector = data + (blockIdx.y << log2N);
    int pos = blockIdx.x * blockDim.x + threadIdx.x;
    int low = pos & (stride - 1);
    int i0 = ((pos - low) << 2) + low;
    int i1 = i0 + stride;
    int i2 = i1 + stride;
    int i3 = i2 + stride;

    float d0 = vector[i0];
    float d1 = vector[i1];
    float d2 = vector[i2];
    float d3 = vector[i3];
    float t;
    t = d0; d0 = d0 + d2; d2 = t - d2;
    t = d1; d1 = d1 + d3; d3 = t - d3;
    t = d0; vector[i0] = d0 + d1; vector[i1] = t - d1;
    t = d2; vector[i2] = d2 + d3; vector[i3] = t - d3;
}

// All stages within pieces of 2^log2Piece elements, one a block, of blockDim = 2^log2Piece / 4 threads.
__global__ void fwtShared(float *data, int log2N, int log2Piece)
{
    extern __shared__ float piece[];
    int size = 1 << log2Piece;
    float *source = data + (blockIdx.y << log2N) + (blockIdx.x << log2Piece);

    for (int i = threadIdx.x; i < size; i += blockDim.x)
        piece[i] = source[i];

    int pos = threadIdx.x;
    int stride;
    for (stride = size >> 2; stride > 0; stride >>= 2) {
        int low = pos & (stride - 1);
        int i0 = ((pos - low) << 2) + low;
        int i1 = i0 + stride;
        int i2 = i1 + stride;
        int i3 = i2 + stride;

        __syncthreads();
        float d0 = piece[i0];
        float d1 = piece[i1];
        float d2 = piece[i2];
        float d3 = piece[i3];
        float t;
        t = d0; d0 = d0 + d2; d2 = t - d2;
        t = d1; d1 = d1 + d3; d3 = t - d3;
        t = d0; piece[i0] = d0 + d1; piece[i1] = t - d1;
        t = d2; piece[i2] = d2 + d3; piece[i3] = t - d3;
    }

    // An odd power of two leaves one radix-2 stage.
    if (log2Piece & 1) {
        __syncthreads();
        for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
            int i0 = i << 1;
            float d0 = piece[i0];
            float d1 = piece[i0 + 1];
            piece[i0] = d0 + d1;
            piece[i0 + 1] = d0 - d1;
        }
    }

    __syncthreads();
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        source[i] = piece[i];
}

// a = a b / n, the dyadic product in the spectrum.
__global__ void modulate(float *a, const float *b, int n, int total)
{
    int threads = blockDim.x * gridDim.x;
    float scale = 1.0f / (float)n;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += threads)
        a[i] *= b[i] * scale;
}
