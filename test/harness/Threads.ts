/** Threads that analyse changes, the same for all tests of a file: starting one takes longer than a small review. */
import { Layer } from "effect"
import { ChangeThreads, defaultThreads, makeChangeThreads } from "../../src/engine/ChangeThreads.ts"

export const testThreads: Layer.Layer<ChangeThreads> = Layer.succeed(ChangeThreads, makeChangeThreads(defaultThreads))
