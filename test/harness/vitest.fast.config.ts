/** `npm run test:fast`: no servers, no browser, no started programs. */
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { common } from "../../vitest.config.ts"
import { fastFiles } from "./FastFiles.ts"

export default defineConfig({
  root: join(import.meta.dirname, "../.."),
  test: {
    ...common,
    include: [...fastFiles()],
    setupFiles: [join(import.meta.dirname, "FastGuard.ts")],
    isolate: false,
    maxWorkers: 2
  }
})
