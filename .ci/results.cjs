/**
 * Reads vitest's JSON reports. `failed REPORT` prints the test files that failed, one per line, nothing when they are more than a few; `pattern
 * REPORT` prints a regular expression of the names of their failed tests, of all tests of short files, of all tests if a file failed outside of
 * tests. `count REPORT RERUN PARTS...` prints the result of the run: a failed test counts with its result in RERUN if it is there, tests that
 * passed only then are named, and each exit code of PARTS that is not 0 counts as one failure.
 */
const { existsSync, readFileSync } = require("node:fs")

const maxRerunFiles = 12

const load = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).testResults : [])
const failedFiles = (files) => files.filter(({ status }) => status === "failed")
const count = (tests, ...statuses) => tests.filter(({ status }) => statuses.includes(status)).length

const isUnloaded = ({ assertionResults }) => count(assertionResults, "failed") === 0

const escape = (name) => name.replace(/[^\p{L}\p{N}]/gu, ".")
/** Between the names of suites and tests, which a pattern is compared with. */
const separator = ".{1,3}"

/** Tests of one file may need what those before them did. The failed tests of a longer file must run without the others. */
const shortMillis = 60_000
const isShort = ({ assertionResults }) =>
  assertionResults.reduce((millis, { duration }) => millis + (duration ?? 0), 0) <= shortMillis

const toPattern = (files) => {
  if (files.some(isUnloaded)) return "."
  const names = files.flatMap((file) => {
    const isWhole = isShort(file)
    return file.assertionResults
      .filter(({ status }) => isWhole || status === "failed")
      .map(({ ancestorTitles, title }) => [...ancestorTitles, title])
      .map((titles) => (isWhole ? titles.slice(0, 1) : titles).map(escape).join(separator))
  })
  return [...new Set(names)].join("|")
}

/** Replaces what failed by what ran again. */
const merge = (file, again) => {
  if (again === undefined || file.status !== "failed") return file
  if (isUnloaded(file)) return again
  const results = new Map(again.assertionResults.map((test) => [test.fullName, test]))
  const assertionResults = file.assertionResults.map((test) => {
    const rerun = test.status === "failed" ? results.get(test.fullName) : undefined
    return rerun === undefined || rerun.status === "pending" || rerun.status === "skipped" ? test : rerun
  })
  return { ...file, assertionResults, status: count(assertionResults, "failed") > 0 ? "failed" : again.status }
}

const printCount = (report, again, parts) => {
  const first = load(report)
  const rerun = new Map(load(again).map((file) => [file.name, file]))
  const files = first.map((file) => merge(file, rerun.get(file.name)))
  for (const [index, { assertionResults, name }] of first.entries())
    for (const [at, test] of assertionResults.entries())
      if (test.status === "failed" && files[index].assertionResults[at]?.status === "passed")
        console.log(`unstable, passed when it ran alone: ${name}: ${test.fullName}`)
  const tests = files.flatMap(({ assertionResults }) => assertionResults)
  // A file that does not load and an error outside of tests have no test of their own.
  const unloaded = failedFiles(files).filter(isUnloaded).length
  const [suite, ...others] = parts.map(Number)
  const inTests = count(tests, "failed") + unloaded
  const failed = others.filter((code) => code !== 0).length + (suite !== 0 && inTests === 0 ? 1 : inTests)
  console.log(
    `${count(tests, "passed")} passed, ${failed} failed, ${count(tests, "skipped", "pending", "todo", "disabled")} skipped`
  )
  if (failed > 0) process.exitCode = 1
}

const [command, report, again, ...parts] = process.argv.slice(2)
if (command === "failed" || command === "pattern") {
  const files = failedFiles(load(report))
  if (command === "pattern") console.log(toPattern(files))
  else if (files.length <= maxRerunFiles) for (const { name } of files) console.log(name)
} else {
  printCount(report, again, parts)
}
