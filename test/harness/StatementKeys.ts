/** Keys of statements for tests, and the statements in the objects of an installation. */
import { generateKeyPairSync } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { readSigningKey } from "../../src/domain/SignedStatement.ts"
import type { SigningKey } from "../../src/domain/SignedStatement.ts"

/** Returns a private key as PEM, and the same key to verify with. */
export const makeStatementKey = (): { readonly pem: string; readonly key: SigningKey } => {
  const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  const key = readSigningKey(pem)
  if (key === undefined) throw new Error("no key")
  return { pem, key }
}

/** Fields of `server` with the variable of the key. */
export const signing = { statements: { private_key_env: "TEST_STATEMENT_KEY" } } as const

/** Returns the stored envelopes by name. */
export const storedStatements = (objects: string): ReadonlyMap<string, string> => {
  const folder = join(objects, "statements")
  if (!existsSync(folder)) return new Map()
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return new Map(
    files.map(({ name, parentPath }) => [join(parentPath, name), readFileSync(join(parentPath, name), "utf8")])
  )
}
