/** Parsers with a fault each, to show that the fuzzer finds such faults. */
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure, text } from "../Target.ts"

/** Throws behind four conditions that have to be met one after the other. */
const deep: FuzzTarget = {
  name: "planted-deep",
  seeds: () => [bytes("key: value here")],
  words: ["key", "value", "drop", "table"],
  check: (input) => {
    const words = text(input).split(" ")
    if (words.length < 3) return
    if (words[0] !== "key:") return
    if (words[1] !== "drop") return
    ensure(words[2]?.startsWith("table") !== true, "the fault behind four conditions")
  }
}

/** Never ends for inputs with two opening brackets in a row. */
const endless: FuzzTarget = {
  name: "planted-endless",
  seeds: () => [bytes("[a]")],
  check: (input) => {
    let depth = text(input).includes("[[") ? 1 : 0
    while (depth > 0) depth = depth > 1 ? 1 : 2
  }
}

/** Backtracks over runs of one letter. */
const quadratic: FuzzTarget = {
  name: "planted-quadratic",
  seeds: () => [bytes("aaaaaaaaaaaaaaaaaaab")],
  check: (input) => {
    // oxlint-disable-next-line no-control-regex
    ensure(!/(a+a+)+\0$/.test(text(input)), "never matches")
  }
}

/** Waits without using the processor, as a thread does that other processes keep from running. */
const starved: FuzzTarget = {
  name: "planted-starved",
  seeds: () => [bytes("a")],
  check: () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500)
  }
}

/** Uses the processor after its run, as the measurement of coverage does. */
const busyAfterwards: FuzzTarget = {
  name: "planted-busy-afterwards",
  seeds: () => [bytes("a")],
  check: () => {
    queueMicrotask(() => {
      const used = () => process.threadCpuUsage().user + process.threadCpuUsage().system
      const endAt = used() + 1_000_000
      while (used() < endAt) continue
    })
  }
}

export const planted: ReadonlyArray<FuzzTarget> = [deep, endless, quadratic, starved, busyAfterwards]
