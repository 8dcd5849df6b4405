/** `aicr token list` prints one line per token. */
import { expect, it } from "vitest"
import { formatTokens } from "../../src/cli/TokenCommand.ts"

const token = {
  id: "1",
  name: "laptop",
  scopes: ["read", "dispute"] as const,
  repositories: ["main:acme/app"],
  created_by: "root",
  created_at: "2026-01-01T00:00:00.000Z",
  expires_at: "2026-03-01T00:00:00.000Z"
}

it("tokens are valid, expired or revoked", () => {
  const tokens = [
    { ...token, last_used_at: "2026-01-31T11:00:00.000Z" },
    {
      ...token,
      name: "old",
      scopes: [],
      role: "viewer" as const,
      repositories: [],
      expires_at: "2026-01-02T00:00:00.000Z"
    },
    { ...token, name: "gone", revoked_at: "2026-01-02T00:00:00.000Z" }
  ]
  const [, ...lines] = formatTokens(tokens, Date.parse("2026-02-01T00:00:00Z"))
    .split("\n")
    .map((line) => line.split(/ {2,}/))
  expect(lines).toEqual([
    ["laptop", "valid", "read,dispute", "-", "main:acme/app", "2026-03-01T00:00:00Z", "2026-01-31T11:00:00Z", "root"],
    ["old", "expired", "-", "viewer", "all", "2026-01-02T00:00:00Z", "-", "root"],
    ["gone", "revoked", "read,dispute", "-", "main:acme/app", "2026-03-01T00:00:00Z", "-", "root"]
  ])
})
