// European option prices by the Black-Scholes formula, one option a thread, both call and put: a square root, logarithms,
// exponentials and a polynomial for the normal distribution. Coalesced; the special functions dominate.
// After BlackScholes of the CUDA SDK: sharing thesis table 4.3.

// The cumulative normal distribution: Abramowitz and Stegun, 26.2.17.
__device__ inline float normal(float d)
{
    const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
    const float inverseRoot2Pi = 0.3989422804f;

    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float upper = inverseRoot2Pi * expf(-0.5f * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
    return d > 0 ? 1.0f - upper : upper;
}

__global__ void blackScholes(float *__restrict__ call, float *__restrict__ put, const float *__restrict__ price,
                             const float *__restrict__ strike, const float *__restrict__ years, float rate, float volatility,
                             int options)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= options)
        return;

    float s = price[i], x = strike[i], t = years[i];
    float root = sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root;
    float n1 = normal(d1), n2 = normal(d2);
    float discounted = x * expf(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}
