/** `npm run test:fast`: no servers, no browser, no started programs. */
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { common, loadedByNode } from "../../vitest.config.ts"
import { fastFiles } from "./FastFiles.ts"

export default defineConfig({
  root: join(import.meta.dirname, "../.."),
  test: {
    ...common,
    experimental: loadedByNode,
    include: [...fastFiles()],
    setupFiles: [join(import.meta.dirname, "FastGuard.ts")],
    isolate: false,
    maxWorkers: 2
  }
})
