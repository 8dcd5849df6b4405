import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { credentialFormats } from "../../src/review/CredentialFormats.ts"
import type { FileDiff } from "../../src/review/FileDiff.ts"
import { findCredentials } from "../../src/review/LeakedCredentials.ts"
import { removeSecrets, scrubSecrets } from "../../src/review/Secrets.ts"
import { credentials, randomText } from "./GeneratedCredentials.ts"

/** A file that the change adds. */
const added = (path: string, lines: ReadonlyArray<string>): FileDiff => ({
  path,
  oldPath: undefined,
  status: "added",
  oldMode: undefined,
  newMode: "100644",
  binary: false,
  additions: lines.length,
  deletions: 0,
  bytes: 0,
  hunks: [
    {
      oldStart: 0,
      oldLines: 0,
      newStart: 1,
      newLines: lines.length,
      section: "",
      lines: lines.map((line) => `+${line}`),
      openEnd: { old: false, new: false }
    }
  ]
})

const findIn = (...lines: ReadonlyArray<string>) => findCredentials([added("a.txt", lines)])

describe("leaked credentials", () => {
  it.each(credentials())("a $kind is found, and its value is in no result", ({ kind, secret, value }) => {
    const found = findIn("first", `call("${value}")`)
    expect(found.map((one) => [one.kind, one.line])).toEqual([[kind, 2]])
    expect(JSON.stringify(found)).not.toContain(secret)
  })

  it("every exact format is one that is removed from texts for models", () => {
    const exact = new Set(credentialFormats.flatMap(({ exact: format, kind }) => (format === undefined ? [] : [kind])))
    const generated = credentials().filter(({ kind }) => kind !== "Private key")
    expect(new Set(generated.map(({ kind }) => kind))).toEqual(exact)
    for (const { value } of generated) {
      expect(removeSecrets(`a ${value} b`)).not.toContain(value)
      expect(scrubSecrets(`a ${value} b`)).not.toContain(value)
    }
  })

  it("every kind is documented", () => {
    const text = readFileSync(new URL("../../docs/quality.md", import.meta.url), "utf8")
    const kinds = credentialFormats.flatMap(({ exact, kind }) => (exact === undefined ? [] : [kind]))
    expect(kinds.filter((kind) => !text.includes(kind))).toEqual([])
  })

  it("a private key begins on one of the next lines, and an encrypted or public one is none", () => {
    const body = randomText(64)
    const begin = (name: string) => `-----BEGIN ${name}-----`
    expect(findIn(begin("EC PRIVATE KEY"), body).map(({ kind }) => kind)).toEqual(["Private key"])
    expect(findIn(begin("PGP PRIVATE KEY BLOCK"), "Version: 1", "", body).map(({ line }) => line)).toEqual([1])
    expect(findIn(begin("ENCRYPTED PRIVATE KEY"), body)).toEqual([])
    expect(findIn(begin("PUBLIC KEY"), body)).toEqual([])
    expect(findIn(begin("PRIVATE KEY"), "…")).toEqual([])
  })

  it.each([
    `ghp_${"x".repeat(36)}`,
    "AKIAIOSFODNN7EXAMPLE",
    `npm_${"0123456789".repeat(4).slice(0, 36)}`,
    `ghp_${randomText(20)}`,
    `prefix_ghp_${randomText(36)}_suffix`,
    `glpat-your-token-here-12345`,
    `AIza${randomText(35)}`,
    `password = "${randomText(24)}"`,
    randomText(40, "0123456789abcdef")
  ])("%s is none", (text) => {
    expect(findIn(`value = "${text}"`)).toEqual([])
  })

  it("each is found once per file, and their number is bounded", () => {
    const [first] = credentials()
    expect(findIn(`a ${first?.value}`, `b ${first?.value}`)).toHaveLength(1)
    const many = Array.from({ length: 200 }, (_, at) => `npm_${randomText(36, undefined, String(at))}`)
    expect(findIn(...many)).toHaveLength(50)
  })

  it("finds none in 300,000 lines of ordinary code", () => {
    const root = fileURLToPath(new URL("../..", import.meta.url))
    let lines = 0
    const found: Array<string> = []
    for (const path of globSync(
      "{src,actors,nats,docs,node_modules/{effect,@effect,typescript,vitest,playwright-core}}/**/*.{ts,js,mjs,md,json}",
      { cwd: root }
    )) {
      if (lines >= 300_000) break
      const text = readFileSync(`${root}/${path}`, "utf8").split("\n")
      lines += text.length
      found.push(...findCredentials([added(path, text)]).map((one) => `${path}:${one.line} ${one.kind}`))
    }
    expect(lines).toBeGreaterThanOrEqual(300_000)
    expect(found).toEqual([])
  })
})
