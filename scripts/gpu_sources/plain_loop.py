#!/usr/bin/env python3
"""usage: plain_loop.py SPECIFICATION

The loop that a tuner without checks runs: for each configuration of a specification, compile by NVRTC, load, one launch
to warm up and seven that are timed by events, unload. Prints how many configurations a second that is, and the fastest.
Understands what tune.json has: one stage, two buffers and n."""

import ctypes
import itertools
import json
import os
import sys
import time

FLOATS = 4
LAUNCHES = 7


def check(code, what):
    if code != 0:
        raise SystemExit(f"{what}: error {code}")


def find_nvrtc():
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"):
        for folder in ("", "/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/"):
            try:
                return ctypes.CDLL(folder + name)
            except OSError:
                continue
    raise SystemExit("no libnvrtc on this host")


class Device:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.nvrtc = find_nvrtc()
        check(self.cuda.cuInit(0), "cuInit")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        check(self.cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
        check(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
        check(self.cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
        major, minor = ctypes.c_int(), ctypes.c_int()
        check(self.cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device), "cuDeviceGetAttribute")
        check(self.cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device), "cuDeviceGetAttribute")
        self.architecture = f"--gpu-architecture=sm_{major.value}{minor.value}"
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            check(self.cuda.cuEventCreate(ctypes.byref(event), 0), "cuEventCreate")

    def allocate(self, num_bytes):
        memory = ctypes.c_uint64()
        check(self.cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(num_bytes)), "cuMemAlloc")
        return memory

    def compile(self, source, macros):
        program = ctypes.c_void_p()
        check(self.nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None), "nvrtcCreateProgram")
        options = [self.architecture.encode()] + [f"-D{name}={value}".encode() for name, value in macros.items()]
        array = (ctypes.c_char_p * len(options))(*options)
        check(self.nvrtc.nvrtcCompileProgram(program, len(options), array), "nvrtcCompileProgram")
        size = ctypes.c_size_t()
        check(self.nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)), "nvrtcGetCUBINSize")
        cubin = ctypes.create_string_buffer(size.value)
        check(self.nvrtc.nvrtcGetCUBIN(program, cubin), "nvrtcGetCUBIN")
        check(self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program)), "nvrtcDestroyProgram")
        return cubin

    def time(self, cubin, kernel, grid, block, arguments):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        check(self.cuda.cuModuleLoadData(ctypes.byref(module), cubin), "cuModuleLoadData")
        check(self.cuda.cuModuleGetFunction(ctypes.byref(function), module, kernel.encode()), "cuModuleGetFunction")
        pointers = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(a) for a in arguments])
        times = []
        for launch in range(LAUNCHES + 1):
            check(self.cuda.cuEventRecord(self.events[0], None), "cuEventRecord")
            check(self.cuda.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, None, pointers, None), "cuLaunchKernel")
            check(self.cuda.cuEventRecord(self.events[1], None), "cuEventRecord")
            check(self.cuda.cuEventSynchronize(self.events[1]), "cuEventSynchronize")
            elapsed = ctypes.c_float()
            check(self.cuda.cuEventElapsedTime(ctypes.byref(elapsed), *self.events), "cuEventElapsedTime")
            if launch > 0:
                times.append(elapsed.value * 1e3)
        check(self.cuda.cuModuleUnload(module), "cuModuleUnload")
        return sorted(times)[LAUNCHES // 2]


def main():
    path = sys.argv[1]
    spec = json.load(open(path))
    source = open(os.path.join(os.path.dirname(path), spec["files"][0]["name"]), "rb").read()
    n = spec["axes"][0]["default_value"]
    stage = spec["stages"][0]
    device = Device()
    arguments = [device.allocate(FLOATS * n), device.allocate(FLOATS * n), ctypes.c_int(n)]
    names = [parameter["name"] for parameter in spec["parameters"]]
    results = []
    start = time.monotonic()
    for values in itertools.product(*[parameter["values"] for parameter in spec["parameters"]]):
        macros = dict(zip(names, values))
        scope = {"n": n, **{name: int(value) for name, value in macros.items()}}
        grid, block = (eval(stage[which][0], {"__builtins__": {}}, scope) for which in ("grid", "block"))
        cubin = device.compile(source, macros)
        results.append((device.time(cubin, stage["kernel"], grid, block, arguments), macros))
    seconds = time.monotonic() - start
    best = min(results, key=lambda result: result[0])
    print(f"{len(results)} configurations in {seconds:.1f} s: {len(results) / seconds:.1f} a second")
    print(f"fastest by the median of {LAUNCHES} events: {best[0]:.1f} us, {best[1]}")


main()
