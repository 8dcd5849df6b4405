import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { MixedOrder } from "./test/harness/MixedOrder.ts"

export const common = {
  // Suites of programs wait most of the time: five files at a time keep two cores busy.
  maxWorkers: 5,
  // What is waited for has limits of its own, which say what did not come.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  globalSetup: [fileURLToPath(new URL("test/harness/RunFolder.ts", import.meta.url))],
  setupFiles: ["UseLauncher", "ResetMetrics", "MeasureFile"].map((name) =>
    fileURLToPath(new URL(`test/harness/${name}.ts`, import.meta.url))
  ),
  unstubEnvs: true
}

/** Node loads modules as it does for the service, with the compiled code that RunFolder.ts keeps: nothing is transformed, also not by a first run. */
export const loadedByNode = { viteModuleRunner: false, nodeLoader: false }

/** Files that get a process of their own: they kill, confine or measure processes, or change what all of this process shares. */
const separate = [
  ...["engine/threads", "fuzz", "sandbox"].map((name) => `test/${name}/**/*.test.ts`),
  "test/engine/ChangeThreads*.test.ts",
  "test/**/*Kill*.test.ts"
]
const excluded = ["test/bench/**", "**/node_modules/**"]

export default defineConfig({
  test: {
    ...common,
    experimental: loadedByNode,
    sequence: { sequencer: MixedOrder },
    projects: [
      { extends: true, test: { name: "separate", include: separate, exclude: excluded } },
      {
        extends: true,
        // To load the modules of a file takes as long as its tests: a process that has loaded them runs many files.
        test: { name: "shared", include: ["test/**/*.test.ts"], exclude: [...excluded, ...separate], isolate: false }
      }
    ]
  }
})
