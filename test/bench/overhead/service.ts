/** The service as `aicr serve` runs it (`src/main.mjs`): with the compile cache, without which each thread strips types itself. */
import { enableCompileCache } from "node:module"
import { join } from "node:path"

enableCompileCache(join(import.meta.dirname, "../../../node_modules/.cache/aicr"))
await import("./serve.ts")
