/** Credentials that `aicr doctor` reports for the roles of a node. */
import { expect, it } from "vitest"
import { missingCredentials } from "../../src/app/Doctor.ts"
import { roles as allRoles } from "../../src/domain/Role.ts"
import { inEnglish } from "../../src/text/en.ts"
import { makeStatementKey, signing } from "../harness/StatementKeys.ts"
import { snapshotFrom } from "../outputs/FromDocument.ts"

it("a key of statements that cannot sign is an error for publishers only", () => {
  const report = (key: string, roles: Parameters<typeof missingCredentials>[1]) =>
    missingCredentials(snapshotFrom({ server: signing }, { TEST_STATEMENT_KEY: key }), roles).map(
      ({ level, reason }) => `${level}: ${inEnglish(reason)}`
    )
  const roles = new Set(allRoles)
  expect(report(makeStatementKey().pem, roles)).toEqual([])
  expect(report("-----BEGIN PRIVATE KEY-----", roles)).toEqual([
    expect.stringContaining("error: the key in server.statements.private_key is not an Ed25519 private key in PEM")
  ])
  expect(report("none", new Set(["executor"] as const))).toEqual([])
})
