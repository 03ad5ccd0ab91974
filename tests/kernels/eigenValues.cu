// Eigenvalues of symmetric tridiagonal matrices by bisection. A thread block has a matrix and a part of the range in which its
// eigenvalues lie. It keeps a list of intervals, one for each thread, with the numbers of eigenvalues below their ends. In each step
// a thread halves its interval: a chain of as many divisions as the matrix has rows counts the eigenvalues below the middle. Divisions
// are approximate, as those of CUDA were on the first GPUs; an error of the count only moves an end of an interval a little. Halves
// without eigenvalues are dropped, and a scan of shared memory packs the list. So few threads have work at first, and many are idle
// to the end.
// After eigenvalues of the CUDA SDK: hierarchy thesis table 4.2.
constexpr int THREADS = 64;

struct Interval {
    float left, right;
    // Eigenvalues below both ends.
    int below, upTo;
};

// The number of eigenvalues below x: of negative pivots when x is taken from the diagonal. A pivot of 0 makes the next one infinite,
// which counts right. `row` has a row's element of the diagonal, and the square of the one before it.
__device__ int eigenvaluesBelow(const float2 *row, int n, float x)
{
    float pivot = row[0].x - x;
    int count = pivot < 0.0f;
    for (int i = 1; i < n; ++i) {
        pivot = row[i].x - x - __fdividef(row[i].y, pivot);
        count += pivot < 0.0f;
    }
    return count;
}

// `n` is at most THREADS, so that the list has room.
__global__ void bisect(float *eigenvalue, const float *diagonal, const float *beside, int n, float lowest, float highest, float precision)
{
    __shared__ float2 row[THREADS];
    __shared__ Interval list[THREADS];
    __shared__ int edge[2];
    __shared__ int halves[THREADS];

    int thread = threadIdx.x, matrix = blockIdx.y * n;
    if (thread < n) {
        float before = thread > 0 ? beside[matrix + thread] : 0.0f;
        row[thread] = make_float2(diagonal[matrix + thread], before * before);
    }
    __syncthreads();

    // Neighbouring blocks compute their common end alike, and count the same there.
    float width = (highest - lowest) / (float)gridDim.x;
    if (thread < 2)
        edge[thread] = eigenvaluesBelow(row, n, fmaf((float)(blockIdx.x + thread), width, lowest));
    __syncthreads();
    if (thread == 0)
        list[0] = {fmaf((float)blockIdx.x, width, lowest), fmaf((float)(blockIdx.x + 1), width, lowest), edge[0], edge[1]};
    int length = edge[1] > edge[0] ? 1 : 0;
    __syncthreads();

    while (length > 0) {
        Interval own = {};
        float middle = 0.0f;
        int belowMiddle = 0, kept = 0;
        if (thread < length) {
            own = list[thread];
            middle = 0.5f * (own.left + own.right);
            if (own.right - own.left <= precision * own.left) {
                for (int i = own.below; i < own.upTo; ++i)
                    eigenvalue[matrix + i] = middle;
            } else {
                // Because of rounding, counts need not ascend.
                belowMiddle = min(max(eigenvaluesBelow(row, n, middle), own.below), own.upTo);
                kept = (belowMiddle > own.below) + (own.upTo > belowMiddle);
            }
        }

        // Sums of the numbers of halves of all threads up to this one. Threads without an interval have none.
        int upToHere = kept;
        halves[thread] = kept;
        __syncthreads();
        for (int distance = 1; distance < length; distance *= 2) {
            if (thread >= distance)
                upToHere += halves[thread - distance];
            __syncthreads();
            halves[thread] = upToHere;
            __syncthreads();
        }
        int place = upToHere - kept;
        length = halves[length - 1];

        if (kept > 0) {
            if (belowMiddle > own.below)
                list[place++] = {own.left, middle, own.below, belowMiddle};
            if (own.upTo > belowMiddle)
                list[place] = {middle, own.right, belowMiddle, own.upTo};
        }
        __syncthreads();
    }
}
