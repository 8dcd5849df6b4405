import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/bench/**", "**/node_modules/**"],
    // Scenario suites wait for processes a third of the time: three files at a time keep two cores busy.
    maxWorkers: 3,
    // What is waited for has limits of its own, which say what did not come.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    unstubEnvs: true
  }
})
