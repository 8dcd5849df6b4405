/**
 * Reads the text of a member file without stopping the event loop: parsing 4 MiB takes seconds. The thread has limits on memory and time, and
 * its result arrives in parts, because receiving all of it in one message would stop the loop too. One file is read at a time.
 */
import { getCompileCacheDir } from "node:module"
import { Worker } from "node:worker_threads"
import { Duration, Effect, Semaphore } from "effect"
import type { MemberFileReading } from "./MemberFile.ts"
import { readMemberFile } from "./MemberFile.ts"
import { CollectedParts } from "./MemberParts.ts"
import type { MemberPart, MemberThreadData } from "./MemberParts.ts"
import { verbatimReason } from "../../domain/Reason.ts"

/** Texts that are parsed within milliseconds, faster than a thread starts. */
const smallLength = 4096
const maxTime = Duration.minutes(10)
const maxHeapMb = 1024

const refuse = (reason: string): MemberFileReading => ({ _tag: "Refused", issues: [verbatimReason(reason)] })

const tooLarge = "use JSON, remove members who write no changes, or distribute them over several files"

const runThread = (text: string): Effect.Effect<MemberFileReading> =>
  Effect.callback<MemberFileReading>((resume) => {
    const workerData: MemberThreadData = { text, compileCache: getCompileCacheDir() }
    const worker = new Worker(new URL("./MemberThread.js", import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
      env: {},
      execArgv: []
    })
    const collected = new CollectedParts()
    const request = () => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage(undefined)
    }
    const end = (reading: MemberFileReading): void => {
      void worker.terminate()
      resume(Effect.succeed(reading))
    }
    worker.on("message", (part: MemberPart) => {
      const reading = collected.add(part)
      if (reading === undefined) setImmediate(request)
      else end(reading)
    })
    worker.on("error", ({ message }) => end(refuse(`it could not be read (${message.slice(0, 200)}); ${tooLarge}`)))
    worker.on("exit", () => end(refuse("its thread ended")))
    worker.unref()
    request()
    return Effect.promise(() => worker.terminate())
  })

const one = Semaphore.makeUnsafe(1)

export const readInThread = (text: string): Effect.Effect<MemberFileReading> =>
  text.length <= smallLength
    ? Effect.sync(() => readMemberFile(text))
    : one.withPermits(1)(
        Effect.timeoutOrElse(runThread(text), {
          duration: maxTime,
          orElse: () =>
            Effect.succeed(refuse(`reading it took longer than ${Duration.toMinutes(maxTime)} minutes; ${tooLarge}`))
        })
      )
