import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/bench/**", "**/node_modules/**"],
    // Scenario suites start real processes; two files at a time keep a two-core machine responsive.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    unstubEnvs: true
  }
})
