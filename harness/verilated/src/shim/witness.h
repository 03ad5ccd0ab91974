// Witnesses in the RTL (see Options::comparisons): for each comparison its width, and the bits in which alone its operands have differed. They begin
// behind the first clock edge: in front of it even registers that reset sets hold any value, so that what differs there is luck.
static struct { uint32_t bits; uint64_t alone; } gpurf_compared[GPURF_COMPARISONS];

extern "C" void gpurf_witness(int number, int bits, unsigned long long difference) {
    if (!gpurf_report || !gpurf_report->clocked) return;
    auto& comparison = gpurf_compared[number];
    comparison.bits = bits;
    if ((difference & (difference - 1)) == 0) comparison.alone |= difference;
}

GPURF_EXPORT int gpurf_comparison(size_t index, uint32_t* bits, uint64_t* alone) {
    if (index >= GPURF_COMPARISONS) return 0;
    *bits = gpurf_compared[index].bits;
    *alone = gpurf_compared[index].alone;
    return 1;
}
