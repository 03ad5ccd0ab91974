#include "Vgpurf.cpp"
#include "*DepSet*.cpp"
