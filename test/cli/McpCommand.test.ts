/** `aicr mcp` refuses to start without an address and a token. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { expect, it } from "vitest"
import { randomText } from "../review/GeneratedCredentials.ts"

const root = join(import.meta.dirname, "../..")
const mcp = (env: Readonly<Record<string, string>>) =>
  new Promise<{ readonly code: unknown; readonly out: string; readonly err: string }>((done) => {
    execFile(
      join(root, "node_modules/.bin/node"),
      ["--disable-warning=ExperimentalWarning", "src/main.mjs", "mcp"],
      { cwd: root, env: { PATH: process.env["PATH"], ...env } },
      (error, out, err) => done({ code: error?.code ?? 0, out, err })
    )
  })

const valid = `aicr-token-${randomText(43)}`

it.each([
  ["no address", {}, "set AICR_URL"],
  ["no token", { AICR_URL: "https://aicr.test" }, "set AICR_TOKEN"],
  ["another token", { AICR_URL: "https://aicr.test", AICR_TOKEN: "ghp_secret" }, "set AICR_TOKEN"],
  ["an address without encryption", { AICR_URL: "http://aicr.test", AICR_TOKEN: valid }, "AICR_URL: http would send"],
  ["an address with credentials", { AICR_URL: "https://a:b@aicr.test", AICR_TOKEN: valid }, "AICR_URL: expected"]
])("an MCP server with %s ends with a hint", async (_name, env, hint) => {
  const { code, err, out } = await mcp(env)
  expect([code, out]).toEqual([2, ""])
  expect(err).toContain(hint)
  for (const secret of ["ghp_secret", valid, "a:b"]) expect(err).not.toContain(secret)
})
