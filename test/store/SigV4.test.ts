/** The examples of "Signature Calculations for the Authorization Header" in AWS's documentation of S3. */
import { describe, expect, it } from "vitest"
import { queryOf, sign } from "../../src/store/SigV4.ts"
import type { Signable } from "../../src/store/SigV4.ts"

const key = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1"
}
const at = new Date("2013-05-24T00:00:00Z")
const bucket = "https://examplebucket.s3.amazonaws.com"
const request = (method: string, path: string, more: Partial<Signable> = {}): Signable => ({
  method,
  url: new URL(path, bucket),
  body: "",
  ...more
})

describe("AWS Signature Version 4", () => {
  it.each<readonly [string, Signable, string]>([
    [
      "get an object",
      request("GET", "/test.txt", { headers: { range: "bytes=0-9" } }),
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    ],
    [
      "put an object",
      request("PUT", "/test$file.text", {
        headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
        body: "Welcome to Amazon S3."
      }),
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
    ],
    [
      "a parameter without a value",
      request("GET", `/?${queryOf({ lifecycle: "" })}`),
      "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
    ],
    [
      "list objects",
      request("GET", `/?${queryOf({ prefix: "J", "max-keys": "2" })}`),
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    ]
  ])("%s", (_, signable, signature) => {
    expect(sign(signable, key, at)["authorization"]).toMatch(new RegExp(`Signature=${signature}$`))
  })

  it("encodes parameters as they are signed", () => {
    expect(queryOf({ b: "a/b c+d", a: "é(*)" })).toBe("a=%C3%A9%28%2A%29&b=a%2Fb%20c%2Bd")
  })
})
