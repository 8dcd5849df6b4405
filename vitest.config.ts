import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/bench/**", "**/node_modules/**"],
    // Scenario suites start real processes; two files at a time keep a two-core machine responsive.
    maxWorkers: 2,
    // What is waited for has limits of its own, which say what did not come.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    unstubEnvs: true
  }
})
