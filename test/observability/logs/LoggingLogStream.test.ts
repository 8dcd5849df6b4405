import { closeSync, openSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Logging from "../../../src/observability/logs/Logging.ts"
import { openLogStream } from "../../../src/observability/logs/Logging.ts"
import { temporaryFolder } from "../../vcs/Repository.ts"

const logTo = (fd: number, lines: number) =>
  Effect.forEach(Array.from({ length: lines }), () => Effect.logInfo("x".repeat(1000)), { discard: true }).pipe(
    Effect.as("done"),
    Effect.provide(Logging.layerWith({ level: "info", pretty: false, destination: openLogStream(fd) }))
  )

const withFile = <A>(path: string, use: (fd: number) => Effect.Effect<A>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => openSync(path, "w")),
    use,
    (fd) => Effect.sync(() => closeSync(fd))
  )

it.effect("work continues while its log cannot be written, as on a full disk", () =>
  Effect.gen(function* () {
    expect(yield* withFile("/dev/full", (fd) => logTo(fd, 2000))).toBe("done")
    const file = join(temporaryFolder(), "log")
    expect(yield* withFile(file, (fd) => logTo(fd, 2))).toBe("done")
    expect(readFileSync(file, "utf8").split("\n")).toHaveLength(3)
  })
)
