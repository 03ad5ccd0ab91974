// Monte Carlo of the Libor market model: each thread follows forward rates along a path of random numbers, and values a portfolio
// of swaptions at its end; then it goes back through path and portfolio for the derivative of the value by the last rate. Rates of
// all steps are kept in local memory.
// After LIB of GPGPU-Sim (Pathcalc_Portfolio_KernelGPU, 192 threads): sharing thesis tables 2.1 and 4.3.
constexpr int MAX_RATES = 16;
constexpr int MAX_STEPS = 8;
constexpr int MAX_OPTIONS = 8;
constexpr float INTERVAL = 0.25f;  // years from rate to rate

__constant__ float volatility[MAX_RATES];
__constant__ int maturity[MAX_OPTIONS];  // in intervals, from 1 on
__constant__ float swapRate[MAX_OPTIONS];

// Rates move once an interval. A rate that has come due stays as it is.
__device__ void followPath(float rate[][MAX_RATES], const float *random, int paths, int rates, int steps)
{
#pragma unroll 1
    for (int n = 0; n < steps; ++n) {
        float z = sqrtf(INTERVAL) * random[n * paths];
        float drift = 0.0f;
#pragma unroll 1
        for (int i = 0; i < rates; ++i) {
            float now = rate[n][i];
            if (i > n) {
                float sigma = volatility[i - n - 1];
                float step = INTERVAL * sigma;
                drift += step * now / (1.0f + INTERVAL * now);
                now *= expf(step * drift + sigma * (z - 0.5f * step));
            }
            rate[n + 1][i] = now;
        }
    }
}

// The value, discounted to today. `slope` becomes its derivatives by the rates at the end of the path.
__device__ float valuePortfolio(const float *rate, float *slope, int rates, int steps, int options)
{
    float discount = 1.0f;
#pragma unroll 1
    for (int n = 0; n < steps; ++n)
        discount /= 1.0f + INTERVAL * rate[n];

    float bond[MAX_RATES], annuity[MAX_RATES], bondSlope[MAX_RATES], annuitySlope[MAX_RATES];
    float b = 1.0f, s = 0.0f;
#pragma unroll 1
    for (int n = steps; n < rates; ++n) {
        b /= 1.0f + INTERVAL * rate[n];
        s += INTERVAL * b;
        bond[n] = b;
        annuity[n] = s;
        bondSlope[n] = annuitySlope[n] = 0.0f;
    }

    float value = 0.0f;
#pragma unroll 1
    for (int i = 0; i < options; ++i) {
        int end = maturity[i] + steps - 1;
        float swap = bond[end] + swapRate[i] * annuity[end] - 1.0f;
        if (swap < 0.0f) {
            value -= 100.0f * swap;
            bondSlope[end] -= 100.0f * discount;
            annuitySlope[end] -= 100.0f * discount * swapRate[i];
        }
    }
    value *= discount;

#pragma unroll 1
    for (int n = 0; n < steps; ++n)
        slope[n] = -value * INTERVAL / (1.0f + INTERVAL * rate[n]);
    float later = 0.0f, annuities = 0.0f;
#pragma unroll 1
    for (int n = rates - 1; n >= steps; --n) {
        annuities += annuitySlope[n];
        float own = bondSlope[n] + INTERVAL * annuities + later;
        later = own / (1.0f + INTERVAL * rate[n]);
        slope[n] = -later * bond[n] * INTERVAL;
    }
    return value;
}

// From derivatives by the rates at the end of the path to those by the first ones.
__device__ void followBack(const float rate[][MAX_RATES], float *slope, int rates, int steps)
{
#pragma unroll 1
    for (int n = steps - 1; n >= 0; --n) {
        float driftSlope = 0.0f;
#pragma unroll 1
        for (int i = rates - 1; i > n; --i) {
            float step = INTERVAL * volatility[i - n - 1];
            float now = rate[n][i], next = rate[n + 1][i];
            driftSlope += step * next * slope[i];
            float growth = 1.0f + INTERVAL * now;
            slope[i] = slope[i] * next / now + step * driftSlope / (growth * growth);
        }
    }
}

__global__ void pathCalcPortfolio(float *value, float *delta, const float *random, float first, int paths, int rates, int steps,
                                  int options)
{
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;

    float rate[MAX_STEPS + 1][MAX_RATES], slope[MAX_RATES];
#pragma unroll 1
    for (int i = 0; i < rates; ++i)
        rate[0][i] = first;
    followPath(rate, random + path, paths, rates, steps);
    value[path] = valuePortfolio(rate[steps], slope, rates, steps, options);
    followBack(rate, slope, rates, steps);
    delta[path] = slope[rates - 1];
}
