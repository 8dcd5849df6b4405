/** A person in Chromium: the login at the provider of the organization, and pages with what a viewer may not do. */
import { once } from "node:events"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, it } from "vitest"
import { password, startAdmin } from "../admin/AdminServer.ts"
import type { AdminServer } from "../admin/AdminServer.ts"
import { TestBrowser, watchPage } from "../harness/Browser.ts"
import { oidcClient, OidcProvider } from "../harness/OidcProvider.ts"

/** A proxy, whose address is the public one: the settings of the provider name it before the service has a port. */
const proxy = createServer((incoming, outgoing) => {
  const { headers, method = "GET", url = "/" } = incoming
  const target = request(new URL(url, admin.url), { method, headers }, (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers)
    response.pipe(outgoing)
  })
  target.on("error", () => outgoing.destroy())
  outgoing.on("close", () => target.destroy())
  incoming.pipe(target)
})

let address: string
let provider: OidcProvider
let admin: AdminServer
let browser: TestBrowser
beforeAll(async () => {
  proxy.listen(0, "127.0.0.1")
  await once(proxy, "listening")
  // Node's type of the address of a TCP server.
  const { port } = proxy.address() as AddressInfo
  address = `http://127.0.0.1:${port}`
  provider = await OidcProvider.start([`${address}/tools/dashboard/login`])
  provider.person = { sub: "vera", email: "vera@acme.test", groups: ["all"] }
  const { id: client_id, secret: client_secret } = oidcClient
  admin = await startAdmin({
    env: { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: password },
    document: {
      server: { base_url: address, path_prefix: "/tools" },
      admin: { oidc: { issuer: provider.issuer, client_id, client_secret, roles: { viewer: ["all"] } } }
    }
  })
  browser = await TestBrowser.start()
}, 120_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  proxy.closeAllConnections()
  proxy.close()
  await admin?.stop()
  await provider?.[Symbol.asyncDispose]()
})

const openPage = async () => (await browser.context()).newPage()

it("a viewer logs in at the provider, returns to the page, and sees what the role does not allow", async () => {
  const page = await openPage()
  const problems = watchPage(page)
  await page.goto(`${address}/tools/dashboard/queue?status=dead`)
  await page.getByRole("button", { name: "Log in with your organization" }).click()
  await page.getByRole("heading", { name: "Queue", exact: true }).waitFor()
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/tools/dashboard/queue?status=dead")
  expect(await page.evaluate("sessionStorage.getItem('aicr.login')")).toBeNull()
  const pause = page.getByRole("button", { name: /^Pause/ })
  await page.locator("button[disabled][title*='operator']").first().waitFor()
  expect(await pause.first().isDisabled()).toBe(true)
  const menu = page.getByRole("navigation")
  expect(await menu.getByRole("link", { name: "Runs", exact: true }).count()).toBe(1)
  for (const hidden of ["Tokens", "Audit"])
    expect(await menu.getByRole("link", { name: hidden, exact: true }).count()).toBe(0)
  expect(await page.locator(".user-name").textContent()).toBe("vera@acme.test")
  expect(problems()).toEqual([])
}, 60_000)

it("a response to a login of another tab opens nothing, and its code leaves the address", async () => {
  const page = await openPage()
  await page.goto(`${address}/tools/dashboard/login?code=stolen&state=x`)
  await page.getByRole("alert").getByText("This tab did not begin that login").waitFor()
  expect(page.url()).toBe(`${address}/tools/dashboard`)
}, 60_000)
