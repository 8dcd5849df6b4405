/** Zips of strangers: what they claim does not count, and what cannot be read is named. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readZip } from "../../../src/forge/hosts/ReadZip.ts"
import type { ZipLimits } from "../../../src/forge/hosts/ReadZip.ts"
import { makeZip } from "../../harness/Zip.ts"
import { inEnglish } from "../../../src/text/en.ts"

const limits: ZipLimits = { maxEntries: 50, maxFiles: 3, maxFileBytes: 5000, maxBytes: 8000, maxRatio: 100 }
const isWanted = (name: string) => name.endsWith(".sarif")
const read = async (zip: Uint8Array) => {
  const { files, unread } = await readZip(zip, isWanted, limits)
  return { files: files.map((bytes) => Buffer.from(bytes).toString()), unread: unread.map(inEnglish) }
}
/** Text that cannot be packed to a tenth. */
const noise = (length: number) =>
  Array.from({ length }, (_, at) => String.fromCodePoint(33 + ((at * 7919 + ((at * at) % 977)) % 90))).join("")

describe("readZip", () => {
  it("reads the wanted files, also in folders and stored without packing", async () => {
    const zip = makeZip([
      { name: "out/a.sarif", content: "first" },
      { name: "out/b.txt", content: "no" },
      { name: "c.sarif", content: "third" }
    ])
    expect(await read(zip)).toEqual({ files: ["first", "third"], unread: [] })
  })

  it.each([
    ["a file over its limit", [{ name: "a.sarif", content: noise(6000) }], "a file in it is larger than 5000 bytes"],
    [
      "a file that is packed too well",
      [{ name: "a.sarif", content: "0".repeat(4999) }],
      "a file in it is packed more than 100 to 1"
    ],
    [
      "a bomb that claims to be small",
      [{ name: "a.sarif", content: Buffer.alloc(4_000_000), claims: { size: 4999 } }],
      "a file in it is damaged"
    ],
    [
      "a file that is smaller than it claims",
      [{ name: "a.sarif", content: noise(100), claims: { size: 200 } }],
      "a file in it is damaged"
    ],
    [
      "a name that leaves the folder",
      [{ name: "../../etc/a.sarif", content: "x" }],
      "the path of a file in it is absolute or leaves its folder"
    ],
    [
      "an absolute name",
      [{ name: "/etc/a.sarif", content: "x" }],
      "the path of a file in it is absolute or leaves its folder"
    ],
    [
      "an unknown method",
      [{ name: "a.sarif", content: "x", method: 99 }],
      "a file in it is encrypted or packed with an unknown method"
    ]
  ])("leaves out %s, and reads the rest", async (_, entries, why) => {
    const zip = makeZip([...entries, { name: "good.sarif", content: "good" }])
    expect(await read(zip)).toEqual({ files: ["good"], unread: [why] })
  })

  it("reads no more files, bytes and entries than the limits", async () => {
    const many = Array.from({ length: 5 }, (_, at) => ({ name: `${at}.sarif`, content: "x" }))
    expect(await read(makeZip(many))).toEqual({ files: ["x", "x", "x"], unread: ["it has more than 3 such files"] })
    const large = Array.from({ length: 3 }, (_, at) => ({ name: `${at}.sarif`, content: noise(3000) }))
    expect(await read(makeZip(large))).toEqual({
      files: [noise(3000), noise(3000)],
      unread: ["its files are larger than 8000 bytes in total"]
    })
    const others = Array.from({ length: 60 }, (_, at) => ({ name: `${at}.txt`, content: "x" }))
    expect(await read(makeZip([...others, { name: "a.sarif", content: "x" }]))).toEqual({
      files: [],
      unread: ["it has more than 50 entries"]
    })
  })

  it("unpacks no more damaged files than whole ones: a few bytes may stand for thousands of them", async () => {
    const damaged = Array.from({ length: 5 }, (_, at) => ({
      name: `${at}.sarif`,
      content: noise(100),
      claims: { size: 200 }
    }))
    expect(await read(makeZip([...damaged, { name: "good.sarif", content: "good" }]))).toEqual({
      files: [],
      unread: ["a file in it is damaged", "it has more than 3 such files"]
    })
    const large = { name: "large.sarif", content: noise(4000), claims: { size: 4500 } }
    expect(await read(makeZip([large, { name: "good.sarif", content: noise(4000) }]))).toEqual({
      files: [],
      unread: ["a file in it is damaged", "its files are larger than 8000 bytes in total"]
    })
  })

  it("reads damaged zips within its limits", async () => {
    const whole = makeZip([
      { name: "a.sarif", content: noise(3000) },
      { name: "b.sarif", content: "b".repeat(300) }
    ])
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        fc.option(fc.nat(whole.length)),
        async (changes, end) => {
          const zip = Buffer.from(whole)
          for (const [at, byte] of changes) zip[at] = byte
          const { files } = await readZip(zip.subarray(0, end ?? whole.length), isWanted, limits)
          const sizes = files.map(({ length }) => length)
          expect(files.length).toBeLessThanOrEqual(limits.maxFiles)
          expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(limits.maxFileBytes)
          expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(limits.maxBytes)
        }
      ),
      { numRuns: 500 }
    )
  })

  it.each([
    ["no zip", Buffer.from("no zip")],
    ["nothing", Buffer.alloc(0)],
    ["a part of a zip", makeZip([{ name: "a.sarif", content: noise(2000) }]).subarray(500)]
  ])("has no files where there is %s", async (_, bytes) => {
    expect(await read(bytes)).toEqual({ files: [], unread: ["it is not a readable zip"] })
  })
})
