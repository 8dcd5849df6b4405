/** A real Chromium, driven by playwright-core. Debian's package; nothing is downloaded. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium } from "playwright-core"
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core"
import { adminCredentials } from "./AdminSession.ts"
import { provide } from "./Provide.ts"

const flags = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

export class TestBrowser implements AsyncDisposable {
  readonly #browser: Browser
  readonly #folder: string

  private constructor(browser: Browser, folder: string) {
    this.#browser = browser
    this.#folder = folder
  }

  static async start(): Promise<TestBrowser> {
    const folder = await mkdtemp(join(tmpdir(), "aicr-browser-"))
    // playwright-core makes a profile of its own for each start, in this folder.
    const browser = await chromium.launch({
      executablePath: join(provide("chromium"), "chromium-headless-shell"),
      headless: true,
      chromiumSandbox: false,
      args: flags,
      env: { ...process.env, TMPDIR: folder, HOME: folder }
    })
    return new TestBrowser(browser, folder)
  }

  /** A browser without history, such as that of another person. Animations are off: they keep a processor busy. */
  context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const own = { viewport: { width: 1280, height: 800 }, locale: "en-US", reducedMotion: "reduce" } as const
    return this.#browser.newContext({ ...own, ...options })
  }

  /** A browser whose pages have the session with this token of the administrator. */
  async signedIn(token: string, options?: BrowserContextOptions): Promise<BrowserContext> {
    const context = await this.context(options)
    await context.addInitScript(
      ([session]) => sessionStorage.setItem("aicr.session", session ?? ""),
      [JSON.stringify({ token, username: adminCredentials.username })]
    )
    return context
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Collects what a page must never cause: errors, warnings about its policy, failed scripts. */
export const watchPage = (page: Page): (() => ReadonlyArray<string>) => {
  const problems: Array<string> = []
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`))
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      problems.push(`${message.type()}: ${message.text()}`)
  })
  page.on("dialog", (dialog) => {
    // The browser's own question before a page with an unsaved edit is left.
    if (dialog.type() === "beforeunload") return void dialog.accept()
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return () => problems
}
