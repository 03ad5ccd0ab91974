// European call options on a binomial tree, one option a block: the values at the leaves, then step by step back to the root,
// with two rows in shared memory that change places. Fewer threads work as the tree narrows; a barrier every step.
// After binomialOptions of the CUDA SDK: hierarchy thesis table 4.2, hybrid paper 6.1.
constexpr int MAX_STEPS = 128;

struct Option {
    float price;
    float strike;
    float years;
};

__global__ void binomialOptions(float *value, const Option *options, int steps, float rate, float volatility)
{
    __shared__ float row[2][MAX_STEPS + 1];

    Option option = options[blockIdx.x];
    float dt = option.years / steps;
    float vDt = volatility * sqrtf(dt);
    float discount = expf(-rate * dt);
    float up = expf(vDt), down = expf(-vDt);
    float p = (expf(rate * dt) - down) / (up - down);
    float pUp = discount * p, pDown = discount * (1.0f - p);

    for (int i = threadIdx.x; i <= steps; i += blockDim.x) {
        float s = option.price * expf(vDt * (2.0f * i - steps));
        row[0][i] = fmaxf(s - option.strike, 0.0f);
    }
    __syncthreads();

    int from = 0;
    for (int step = steps; step > 0; --step) {
        for (int i = threadIdx.x; i < step; i += blockDim.x)
            row[from ^ 1][i] = pUp * row[from][i + 1] + pDown * row[from][i];
        from ^= 1;
        __syncthreads();
    }

    if (threadIdx.x == 0)
        value[blockIdx.x] = row[from][0];
}
