// European options by Monte Carlo simulation. inverseCND makes normally distributed numbers: every thread jumps to its place in
// a 64-bit linear congruential sequence and turns the upper bits into a sample with Moro's inverse of the cumulative normal
// distribution. monteCarloOneBlockPerOption averages the payoff over all samples: shuffles within warps, then shared memory.
// After MonteCarlo of the CUDA SDK: hierarchy thesis table 4.2, hybrid paper 6.1, sharing thesis table 4.3 (both kernels).
typedef unsigned long long ulonglong;

constexpr ulonglong MULTIPLIER = 6364136223846793005ull;
constexpr ulonglong INCREMENT = 1442695040888963407ull;

// The state `steps` steps after `state`: the step is an affine map, which is squared and multiplied.
__device__ ulonglong jump(ulonglong state, unsigned int steps)
{
    ulonglong a = MULTIPLIER, c = INCREMENT;
    while (steps > 0) {
        if (steps & 1)
            state = a * state + c;
        c = (a + 1) * c;
        a = a * a;
        steps >>= 1;
    }
    return state;
}

// Moro's approximation (1995): a rational function in the middle, a polynomial in log(-log) at the ends.
__device__ float inverseNormal(float p)
{
    float y = p - 0.5f;
    if (fabsf(y) < 0.42f) {
        float z = y * y;
        float above = 2.50662823884f + z * (-18.61500062529f + z * (41.39119773534f + z * -25.44106049637f));
        float below = 1.0f + z * (-8.4735109309f + z * (23.08336743743f + z * (-21.06224101826f + z * 3.13082909833f)));
        return y * above / below;
    }
    float z = logf(-logf(y > 0.0f ? 1.0f - p : p));
    z = 0.3374754822726147f +
        z * (0.9761690190917186f +
             z * (0.1607979714918209f +
                  z * (0.0276438810333863f +
                       z * (0.0038405729373609f +
                            z * (0.0003951896511919f + z * (0.0000321767881768f + z * (0.0000002888167364f + z * 0.0000003960315187f)))))));
    return y > 0.0f ? z : -z;
}

__global__ void inverseCND(float *samples, int n, ulonglong seed)
{
    int threads = gridDim.x * blockDim.x;
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    ulonglong state = jump(seed, first + 1);
    for (int i = first; i < n; i += threads) {
        // 23 bits, in the middle of their interval: neither 0 nor 1.
        unsigned int bits = (unsigned int)(state >> 41);
        samples[i] = inverseNormal((bits + 0.5f) * (1.0f / 8388608.0f));
        state = jump(state, threads);
    }
}

__global__ void monteCarloOneBlockPerOption(float2 *result, const float *price, const float *strike, const float *years,
                                            const float *samples, int n, float rate, float volatility)
{
    __shared__ float sums[32], squares[32];

    float s = price[blockIdx.x], x = strike[blockIdx.x], t = years[blockIdx.x];
    float drift = (rate - 0.5f * volatility * volatility) * t;
    float spread = volatility * sqrtf(t);

    float sum = 0.0f, square = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float payoff = s * __expf(drift + spread * samples[i]) - x;
        payoff = payoff > 0.0f ? payoff : 0.0f;
        sum += payoff;
        square += payoff * payoff;
    }

#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) {
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
        square += __shfl_xor_sync(0xffffffffu, square, mask);
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        squares[threadIdx.x / 32] = square;
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        sum = 0.0f;
        square = 0.0f;
        for (int warp = 0; warp < blockDim.x / 32; ++warp) {
            sum += sums[warp];
            square += squares[warp];
        }
        float discount = expf(-rate * t);
        float mean = sum / n;
        float deviation = sqrtf(fmaxf(square / n - mean * mean, 0.0f));
        result[blockIdx.x] = make_float2(discount * mean, discount * 1.96f * deviation / sqrtf((float)n));
    }
}
