/** Real connections that fail, and the advice that follows from their errors. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer as createPlain } from "node:http"
import { createServer } from "node:https"
import { join } from "node:path"
import type { Server } from "node:net"
import { request } from "undici"
import { expect, it } from "vitest"
import { findConnectionAdvice } from "../../src/domain/ConnectionAdvice.ts"

import { inEnglish } from "../../src/text/en.ts"
import { freePort } from "../harness/FreePort.ts"
import { temporaryFolder } from "../vcs/Repository.ts"

const adviceOn = (text: string): string | undefined => {
  const advice = findConnectionAdvice(text)
  return advice === undefined ? undefined : inEnglish(advice)
}

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  return Number(Object(server.address()).port)
}

const fail = async (url: string): Promise<string> => {
  try {
    await request(url)
    return "no error"
  } catch (error) {
    return `${Object(error).code} ${String(error)}`
  }
}

it("names what to check after each kind of failed connection", async () => {
  const folder = temporaryFolder()
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
  execFileSync("openssl", ["req", "-x509", ...curve, "-nodes", "-keyout", key, "-out", cert, "-subj", "/CN=a"], {
    stdio: "ignore"
  })
  const secure = createServer({ key: readFileSync(key), cert: readFileSync(cert) })
  const plain = createPlain()
  try {
    const [tlsPort, plainPort] = [await listen(secure), await listen(plain)]
    const errors = await Promise.all(
      [
        `https://127.0.0.1:${tlsPort}`,
        "https://no-such-host.invalid",
        `http://127.0.0.1:${await freePort()}`,
        `https://127.0.0.1:${plainPort}`
      ].map(fail)
    )
    expect(errors.map(adviceOn)).toEqual([
      expect.stringContaining("NODE_EXTRA_CA_CERTS"),
      expect.stringContaining("DNS"),
      expect.stringContaining("nothing listens"),
      expect.stringContaining("http and https")
    ])
  } finally {
    secure.close()
    plain.close()
  }
})

it.each(["connection closed", "the response is too large", "other side closed"])("has none for: %s", (text) => {
  expect(findConnectionAdvice(text)).toBeUndefined()
})
