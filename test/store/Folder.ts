/** A folder for one test. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

/** A new folder, removed when the scope closes. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "aicr-store-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)
