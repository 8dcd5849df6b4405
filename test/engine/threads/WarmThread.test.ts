/** One idle thread stays for the review after a pause, the others end. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { endIdle } from "../../../src/engine/threads/WarmThread.ts"

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Returns after how many seconds an idle thread ends. */
const secondsUntilEnd = (isKept: () => boolean): number | undefined => {
  let ended: number | undefined
  const startedAt = performance.now()
  endIdle(isKept, () => (ended = (performance.now() - startedAt) / 1000))
  vi.advanceTimersByTime(3_600_000)
  return ended
}

describe("an idle thread", () => {
  it("ends after 20 seconds", () => expect(secondsUntilEnd(() => false)).toBe(20))

  it("ends after 10 minutes where it is the one that stays warm", () => expect(secondsUntilEnd(() => true)).toBe(600))

  it("ends when another one stays warm instead", () => {
    let calls = 0
    expect(secondsUntilEnd(() => ++calls < 3)).toBe(60)
  })

  it("does not stay warm where the machine has little memory", () => {
    vi.spyOn(process, "availableMemory").mockReturnValue(1_048_576)
    expect(secondsUntilEnd(() => true)).toBe(20)
  })

  it("runs on with the next request", () => {
    let isEnded = false
    endIdle(
      () => false,
      () => (isEnded = true)
    )()
    vi.advanceTimersByTime(3_600_000)
    expect(isEnded).toBe(false)
  })
})
