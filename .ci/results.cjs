/**
 * Reads vitest's JSON reports. `failed REPORT` prints the test files that failed, one per line, nothing when they are more than a few.
 * `count REPORT RERUN PARTS...` prints the result of the run: where RERUN has a file of REPORT it replaces it, tests that passed only
 * then are named, and each exit code of PARTS that is not 0 counts as one failure.
 */
const { existsSync, readFileSync } = require("node:fs")

const maxRerunFiles = 12

const load = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).testResults : [])
const failedFiles = (files) => files.filter(({ status }) => status === "failed")
const count = (tests, ...statuses) => tests.filter(({ status }) => statuses.includes(status)).length

const unstable = (files, rerun) =>
  failedFiles(files).flatMap(({ name, assertionResults }) => {
    const passed = new Set(
      rerun.get(name)?.assertionResults.flatMap((test) => (test.status === "passed" ? [test.fullName] : []))
    )
    return assertionResults.flatMap((test) =>
      test.status === "failed" && passed.has(test.fullName) ? [`${name}: ${test.fullName}`] : []
    )
  })

const printCount = (report, again, parts) => {
  const first = load(report)
  const rerun = new Map(load(again).map((file) => [file.name, file]))
  const files = first.map((file) => rerun.get(file.name) ?? file)
  for (const test of unstable(first, rerun)) console.log(`unstable, passed when it ran alone: ${test}`)
  const tests = files.flatMap(({ assertionResults }) => assertionResults)
  // A file that does not load and an error outside of tests have no test of their own.
  const unloaded = failedFiles(files).filter(({ assertionResults }) => count(assertionResults, "failed") === 0).length
  const [suite, ...others] = parts.map(Number)
  const inTests = count(tests, "failed") + unloaded
  const failed = others.filter((code) => code !== 0).length + (suite !== 0 && inTests === 0 ? 1 : inTests)
  console.log(
    `${count(tests, "passed")} passed, ${failed} failed, ${count(tests, "skipped", "pending", "todo", "disabled")} skipped`
  )
}

const [command, report, again, ...parts] = process.argv.slice(2)
if (command === "failed") {
  const names = failedFiles(load(report)).map(({ name }) => name)
  if (names.length <= maxRerunFiles) for (const name of names) console.log(name)
} else {
  printCount(report, again, parts)
}
