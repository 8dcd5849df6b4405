/** The files of the dashboard over HTTP: the built ones, with their policy and their caching. */
import { dirname, join } from "node:path"
import { gzipSync } from "node:zlib"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { documentAbout, documents } from "../../src/dashboard/layout/DocumentAbout.ts"
import { Dashboard } from "../../src/ingress/Dashboard.ts"
import type { Ingress } from "./Ingress.ts"
import { document, startIngress } from "./Ingress.ts"

let ingress: Ingress
let base = ""
beforeAll(async () => {
  ingress = await startIngress({
    env: { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: "x" },
    document: { ...document, server: { path_prefix: "/aicr" } }
  })
  base = `http://127.0.0.1:${ingress.port}/aicr/dashboard`
})
afterAll(() => ingress.stop())

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${base}${path}`, { headers })
const assetsOf = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/(?:src|href)="\/aicr\/dashboard(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "")

describe("the page", () => {
  it("is the same for every path below /dashboard, except for its nonce", async () => {
    const [one, two] = await Promise.all([get(""), get("/runs/01a20e3e-54e1-7003-bdc3-4b2d0823840c?x=1")])
    expect([one.status, two.status]).toEqual([200, 200])
    const nonces = [one, two].map(
      ({ headers }) => /'nonce-([^']+)'/.exec(headers.get("content-security-policy") ?? "")?.[1]
    )
    expect(nonces[0]).toMatch(/^[A-Za-z0-9+/]{24}$/)
    expect(nonces[0]).not.toBe(nonces[1])
    const [first, second] = await Promise.all([one.text(), two.text()])
    expect(first.replaceAll(nonces[0] ?? "", "N")).toBe(second.replaceAll(nonces[1] ?? "", "N"))
    expect(first).toContain(`content="/aicr"`)
  })

  it("allows its own scripts only, in no frame, and is not cached", async () => {
    const { headers } = await get("")
    const policy = headers.get("content-security-policy") ?? ""
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self' 'nonce-[^']+'; style-src 'self' 'nonce-[^']+'; connect-src 'self';/
    )
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain("unsafe")
    expect([headers.get("cache-control"), headers.get("x-content-type-options")]).toEqual(["no-store", "nosniff"])
  })
})

describe("without an administrator", () => {
  it("names what to set in a sentence for a browser, and in JSON for other clients", async () => {
    const off = await startIngress()
    const page = (accept: string) => fetch(`${off.url}/`, { headers: { accept } })
    const browser = await page("text/html,application/xhtml+xml,*/*;q=0.8")
    expect([browser.status, browser.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"])
    expect(await browser.text()).toMatch(/set the environment variables SVC_ADMIN_USERNAME and SVC_ADMIN_PASSWORD/)
    expect(await (await page("*/*")).json()).toMatchObject({ status: 404 })
    await off.stop()
  })
})

describe("documents", () => {
  it("are pages without scripts, whose links lead to pages and sections that exist", async () => {
    const seen = new Map<string, string>()
    const read = async (path: string): Promise<void> => {
      if (seen.has(path)) return
      const response = await get(`/docs/${path}`)
      expect([path, response.status]).toEqual([path, 200])
      const html = await response.text()
      seen.set(path, html)
      const links = [...html.matchAll(/(?:href)="([^"#]+\.(?:html|css))(?:#[^"]*)?"/g)]
      for (const [, link = ""] of links) await read(join(dirname(path), link))
    }
    await read("README.html")
    await read("README.zh.html")
    expect(seen.size).toBeGreaterThan(30)
    for (const [path, html] of seen) {
      expect([path, /<script|javascript:|\son\w+=/i.test(html.replaceAll(/<code>[\s\S]*?<\/code>/g, ""))]).toEqual([
        path,
        false
      ])
      for (const [, link = path, anchor = ""] of html.matchAll(/href="([^"#:]+\.html)?#([^"]+)"/g)) {
        const target = link === path ? html : seen.get(join(dirname(path), link))
        expect([path, link, anchor, target?.includes(`id="${anchor}"`)]).toEqual([path, link, anchor, true])
      }
    }
    const pictures = [...seen].flatMap(([path, html]) =>
      [...html.matchAll(/<img src="([^"]+)" alt="([^"]+)"/g)].map(([, source = ""]) => join(dirname(path), source))
    )
    expect(new Set(pictures).size).toBe(5)
    for (const path of new Set(pictures)) {
      const response = await get(`/docs/${path}`)
      expect([path, response.status, response.headers.get("content-type")]).toEqual([path, 200, "image/png"])
    }
    const { headers } = await get("/docs/README.html")
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'self'; img-src 'self'; /)
    expect(headers.get("cache-control")).toBe("no-cache")
  })

  it("exist for every page of the menu", async () => {
    for (const to of Object.keys(documents)) {
      const [path = "", anchor] = documentAbout(to).split("#")
      const html = await (await get(path)).text()
      expect([to, anchor === undefined ? html.includes("<h1") : html.includes(`id="${anchor}"`)]).toEqual([to, true])
    }
    expect(documentAbout("/runs/01a20e3e")).toBe("/docs/publishing.html")
  })

  it("does not serve other files", async () => {
    for (const path of ["development/language.html", "../index.html", "configuration.md", "nothing.html"])
      expect([path, (await get(`/docs/${encodeURIComponent(path)}`)).status]).toEqual([path, 404])
  })
})

describe("assets", () => {
  it("are immutable, and compressed as the client accepts it", async () => {
    const [script = ""] = assetsOf(await (await get("")).text())
    expect(script).toMatch(/-[\w-]{8}\.js$/)
    const plain = await get(script, { "accept-encoding": "identity" })
    expect(plain.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
    expect(plain.headers.get("vary")).toBe("accept-encoding")
    const text = await plain.text()
    for (const [accepted, encoding] of [
      ["gzip, br", "br"],
      ["gzip;q=1, br;q=0", "gzip"],
      ["br;q=0, gzip;q=0", null]
    ]) {
      const response = await get(script, { "accept-encoding": accepted ?? "" })
      expect([accepted, response.headers.get("content-encoding")]).toEqual([accepted, encoding])
      expect(await response.text()).toBe(text)
    }
  })

  it("that do not exist are not found, also those with compressed copies or outside of the folder", async () => {
    const [script = ""] = assetsOf(await (await get("")).text())
    for (const path of ["/assets/none.js", `${script}.br`, "/assets/..%2findex.html", "/assets/"])
      expect([path, (await get(path)).status]).toEqual([path, 404])
  })

  it("of the first page are at most 160 KB, compressed with gzip", async () => {
    const files = assetsOf(await (await get("")).text()).filter((path) => path.endsWith(".js"))
    expect(files.length).toBeGreaterThan(0)
    const sizes = await Promise.all(
      files.map(async (path) => gzipSync(await (await get(path)).text(), { level: 9 }).length)
    )
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(160 * 1024)
  })
})

it("a build that failed is not repeated by requests, and files that appear later are served", async () => {
  const builds: Array<boolean> = []
  const page = { page: "<p>built</p>", assets: new Map(), documents: async () => new Map() }
  const dashboard = new Dashboard(
    () => {},
    async (_, mayBuild) => (builds.push(mayBuild) < 3 ? undefined : page)
  )
  const snapshot = await Effect.runPromise(
    toSnapshot(document, { SECRET: "s", SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: "x" })
  )
  const respond = () => dashboard.respond(snapshot, "", "", {})
  expect([(await respond()).status, (await respond()).status]).toEqual([503, 503])
  expect([(await respond()).status, (await respond()).status]).toEqual([200, 200])
  expect(builds).toEqual([true, false, false])
})
