// Magnetic resonance imaging: computes the matrix Q of a reconstruction whose samples lie anywhere in frequency space. Each
// thread has a point of the picture and adds up a sine and a cosine for every sample; the samples are in constant memory.
// After mri-q of Parboil (ComputePhiMag, ComputeQ): hierarchy thesis table 4.2, sharing thesis tables 2.1 and 4.3.
constexpr int MAX_SAMPLES = 256;
constexpr float TWO_PI = 6.2831853071795864769252867665590058f;

struct Sample {
    float kx, ky, kz;
    float weight;
};

__constant__ Sample sample[MAX_SAMPLES];

__global__ void computePhiMag(const float *real, const float *imaginary, float *magnitude, int samples)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < samples)
        magnitude[i] = real[i] * real[i] + imaginary[i] * imaginary[i];
}

__global__ void computeQ(const float *x, const float *y, const float *z, const float *magnitude, float *qReal,
                         float *qImaginary, int samples)
{
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    float px = x[point], py = y[point], pz = z[point];
    float real = qReal[point], imaginary = qImaginary[point];

    for (int i = 0; i < samples; ++i) {
        Sample s = sample[i];
        float angle = TWO_PI * (s.kx * px + s.ky * py + s.kz * pz);
        float size = s.weight * magnitude[i];
        real += size * cosf(angle);
        imaginary += size * sinf(angle);
    }

    qReal[point] = real;
    qImaginary[point] = imaginary;
}
