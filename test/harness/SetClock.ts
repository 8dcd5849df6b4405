/**
 * A wall clock that a test sets while a process runs: libfaketime under that process. Time that passes (monotonic clocks, timers) is
 * not touched, as when an administrator sets a clock.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { faketimeLibrary, provide } from "./Provide.ts"

export class SetClock implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "aicr-clock-"))
  /** Variables of the process whose clock it is. */
  readonly env: Readonly<Record<string, string>>

  constructor() {
    const file = join(this.#folder, "offset")
    this.env = {
      LD_PRELOAD: join(provide("faketime"), faketimeLibrary),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1"
    }
    this.set(0)
  }

  /** Sets the offset of the clock from the true time in seconds, which may be negative. */
  set(seconds: number): void {
    writeFileSync(join(this.#folder, "offset"), `${seconds < 0 ? "" : "+"}${seconds}\n`)
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true })
  }
}
