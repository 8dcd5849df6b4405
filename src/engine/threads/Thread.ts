/** One worker thread: starts with its first request, runs requests in their order, and ends when a request passes a limit. */
import { getCompileCacheDir } from "node:module"
import { dirname } from "node:path"
import { setFlagsFromString } from "node:v8"
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import { AnalysisError } from "../AnalysisError.ts"
import type { VocabularyData } from "../../review/Vocabulary.ts"
import { endIdle } from "./WarmThread.ts"
import type { ThreadData, ThreadRequest, ThreadResponse } from "./Protocol.ts"

export interface ThreadLimits {
  /** Heap of the thread; patches as git printed them come on top, bounded by `review.max_patch_bytes`. */
  readonly memoryMb: number
  /** Longest time of one request. */
  readonly millis: number
}

/** Room for new objects: a larger one holds garbage of tens of MiB and saves no time that can be measured. */
const youngMb = 12

/** A thread without a change that holds more memory ends instead of keeping it. Words of the tokenizer and code take about 70 MiB. */
const maxHeldBytes = 96 * 1_048_576

/** Memory that the threads of one pool share. */
export interface SharedMemory {
  vocabulary: VocabularyData | undefined
  /** Whether this thread is the one that stays warm without a change. */
  readonly isKept: (thread: Thread) => boolean
}

interface Pending {
  readonly resume: (result: Effect.Effect<unknown, AnalysisError>) => void
  readonly deadline: NodeJS.Timeout
}

export class Thread {
  readonly limits: ThreadLimits
  changes = 0
  readonly #worker: Worker
  readonly #shared: SharedMemory
  readonly #pending = new Map<number, Pending>()
  #lastId = 0
  #ended: AnalysisError | undefined
  #keepRunning = () => {}
  #onClosed: ((isFree: boolean) => void) | undefined

  constructor(entry: URL, limits: ThreadLimits, shared: SharedMemory) {
    this.limits = limits
    this.#shared = shared
    const cache = getCompileCacheDir()
    // The flag limits the main thread, which has read it; it would override the limits below.
    setFlagsFromString("--max-semi-space-size=0")
    this.#worker = new Worker(entry, {
      workerData: {
        compileCache: cache === undefined ? undefined : dirname(cache),
        vocabulary: shared.vocabulary
      } satisfies ThreadData,
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb, maxYoungGenerationSizeMb: youngMb },
      env: {},
      execArgv: ["--disable-warning=ExperimentalWarning"]
    })
    this.#worker.on("message", (response: ThreadResponse) => this.#settle(response))
    this.#worker.on("messageerror", (cause) => this.#fail(crashed(cause.message)))
    this.#worker.on("error", (cause) => this.#fail(this.#failure(cause)))
    this.#worker.on("exit", (code) => this.#fail(crashed(`it ended with code ${code}`)))
    // A process that has nothing else to do ends.
    this.#worker.unref()
    this.#waitForChange()
  }

  /** Whether the thread can accept another change: it runs and is idle. */
  get isFree(): boolean {
    return this.#ended === undefined && this.#pending.size === 0 && this.#onClosed === undefined
  }

  run(name: string, input: ReadonlyArray<unknown>): Effect.Effect<unknown, AnalysisError> {
    return Effect.callback<unknown, AnalysisError>((resume) => {
      if (this.#ended !== undefined) return resume(Effect.fail(this.#ended))
      this.#keepRunning()
      const id = ++this.#lastId
      const { millis } = this.limits
      const deadline = setTimeout(() => this.#fail(tookTooLong(millis)), millis)
      this.#pending.set(id, { resume, deadline })
      this.#worker.ref()
      this.#send({ id, name, input } as ThreadRequest)
      // An interrupted caller does not wait for the result: the thread ends with the scope of its change.
      return Effect.void
    })
  }

  /** Drops the change. Calls `onClosed` once the thread can take another one, or has ended, because it failed or held too much memory. */
  close(onClosed: (isFree: boolean) => void): void {
    this.changes++
    this.#onClosed = onClosed
    this.#send({ name: "close" })
  }

  end(): void {
    this.#fail(crashed("it was ended"))
  }

  #send(request: ThreadRequest): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage(request, "input" in request ? request.input.flatMap(buffersOf) : [])
  }

  #closed(heldBytes: number, isSlow: boolean): void {
    if (heldBytes > maxHeldBytes || isSlow) return this.end()
    this.#waitForChange()
    this.#reportClosed(true)
  }

  #reportClosed(isFree: boolean): void {
    const onClosed = this.#onClosed
    this.#onClosed = undefined
    onClosed?.(isFree)
  }

  #waitForChange(): void {
    this.#keepRunning = endIdle(
      () => this.#shared.isKept(this),
      () => this.end()
    )
  }

  #settle(response: ThreadResponse): void {
    if ("heldBytes" in response) return this.#closed(response.heldBytes, response.isSlow)
    if ("vocabulary" in response) {
      this.#shared.vocabulary ??= response.vocabulary
      return
    }
    const pending = this.#pending.get(response.id)
    if (pending === undefined) return
    this.#pending.delete(response.id)
    clearTimeout(pending.deadline)
    if (this.#pending.size === 0) this.#worker.unref()
    pending.resume("error" in response ? Effect.fail(crashed(response.error)) : Effect.succeed(response.value))
  }

  #fail(error: AnalysisError): void {
    if (this.#ended !== undefined) return
    this.#ended = error
    this.#keepRunning()
    for (const { resume, deadline } of this.#pending.values()) {
      clearTimeout(deadline)
      resume(Effect.fail(error))
    }
    this.#pending.clear()
    void this.#worker.terminate()
    this.#reportClosed(false)
  }

  #failure(cause: unknown): AnalysisError {
    const isMemory = cause instanceof Error && "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY"
    return isMemory
      ? outOfMemory(this.limits.memoryMb)
      : crashed(cause instanceof Error ? cause.message : String(cause))
  }
}

/** Bytes, alone or in a list, move to the thread instead of being copied. */
const buffersOf = (input: unknown): ReadonlyArray<ArrayBuffer> =>
  (Array.isArray(input) ? input : [input]).flatMap((one: unknown) =>
    one instanceof Uint8Array && one.buffer instanceof ArrayBuffer ? [one.buffer] : []
  )

const crashed = (cause: string): AnalysisError =>
  new AnalysisError({ reason: "crashed", why: { _tag: "AnalysisCrashed", cause } })

const outOfMemory = (megabytes: number): AnalysisError =>
  new AnalysisError({ reason: "limit", why: { _tag: "AnalysisOverMemory", megabytes } })

const tookTooLong = (millis: number): AnalysisError =>
  new AnalysisError({ reason: "limit", why: { _tag: "AnalysisOverTime", seconds: millis / 1000 } })
