// Walsh-Hadamard transforms of a batch of vectors (one a row of the grid), and the product of two spectra. Large strides are
// done in global memory, four elements a thread; the rest within blocks, in dynamic shared memory.
// After fastWalshTransform of the CUDA SDK: hierarchy thesis table 4.2, hybrid paper 6.1.

// Sum and difference of two elements.
__device__ inline void butterfly(float &a, float &b)
{
    float difference = a - b;
    a += b;
    b = difference;
}

// Two stages at once, for the group-th four elements that are `stride` apart, a power of two.
__device__ void radix4(float *data, int group, int stride)
{
    int offset = group & (stride - 1);
    int first = 4 * (group - offset) + offset;
    float element[4];
    for (int i = 0; i < 4; ++i)
        element[i] = data[first + i * stride];

    butterfly(element[0], element[2]);
    butterfly(element[1], element[3]);
    butterfly(element[0], element[1]);
    butterfly(element[2], element[3]);

    for (int i = 0; i < 4; ++i)
        data[first + i * stride] = element[i];
}

__global__ void fwtGlobal(float *data, int log2N, int stride)
{
    radix4(data + (blockIdx.y << log2N), blockIdx.x * blockDim.x + threadIdx.x, stride);
}

// All stages within pieces of 2^log2Piece elements, one a block, of a quarter as many threads.
__global__ void fwtShared(float *data, int log2N, int log2Piece)
{
    extern __shared__ float piece[];
    int size = 1 << log2Piece;
    data += (blockIdx.y << log2N) + (blockIdx.x << log2Piece);

    for (int i = threadIdx.x; i < size; i += blockDim.x)
        piece[i] = data[i];

    int stride = size / 4;
    for (; stride > 0; stride /= 4) {
        __syncthreads();
        radix4(piece, threadIdx.x, stride);
    }
    __syncthreads();

    // An odd power of two leaves one stage, of neighbours.
    if (log2Piece % 2 != 0) {
        for (int i = 2 * threadIdx.x; i < size; i += 2 * blockDim.x)
            butterfly(piece[i], piece[i + 1]);
        __syncthreads();
    }

    for (int i = threadIdx.x; i < size; i += blockDim.x)
        data[i] = piece[i];
}

// a = a b / n, the product in the spectrum.
__global__ void modulate(float *a, const float *b, int n, int total)
{
    int threads = blockDim.x * gridDim.x;
    float scale = 1.0f / (float)n;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += threads)
        a[i] *= b[i] * scale;
}
