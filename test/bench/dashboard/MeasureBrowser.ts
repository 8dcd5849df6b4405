/** The dashboard in a browser: its first content, and how many live events a page takes in, with 50 running reviews and a list in view. */
import { AdminSession, adminEnv } from "../../harness/AdminSession.ts"
import { TestBrowser } from "../../harness/Browser.ts"
import { EventProxy } from "../../harness/EventProxy.ts"
import { Installation } from "../../harness/Installation.ts"
import { waitUntil } from "../../harness/Wait.ts"

const loads = 9
const events = 100_000

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const mebibyte = 1024 * 1024

export const measureBrowser = async (): Promise<Readonly<Record<string, number>>> => {
  await using at = await Installation.make({ queue: "sqlite", env: adminEnv })
  await at.aicr.start()
  const { token } = await AdminSession.open(at.aicr.url)
  await using proxy = await EventProxy.start(at.aicr.url)
  await using browser = await TestBrowser.start()
  const context = await browser.context()
  await context.addInitScript(
    ([session]) => sessionStorage.setItem("aicr.session", session ?? ""),
    [JSON.stringify({ token, username: "root" })]
  )
  const page = await context.newPage()
  const first: Array<number> = []
  for (let load = 0; load < loads; load++) {
    await page.goto(`${proxy.url}/dashboard/runs`)
    await page.locator("#content h1").waitFor()
    first.push(
      Number(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"))
    )
  }
  await waitUntil(() => proxy.streams > 0, { describe: () => "no stream of live events" })
  const session = await context.newCDPSession(page)
  const heap = async (): Promise<number> => {
    await session.send("HeapProfiler.collectGarbage")
    return (await session.send("Runtime.getHeapUsage")).usedSize
  }
  const received = async (): Promise<number> =>
    Number(
      /\d[\d,]*/.exec((await page.locator(".connection").getAttribute("title")) ?? "")?.[0].replaceAll(",", "") ?? 0
    )
  /** Sends events, and waits until the page shows their number, which it does after each refresh. */
  const rate = async (count: number): Promise<number> => {
    const [before, known] = [performance.now(), await received()]
    await proxy.send(count)
    await waitUntil(async () => (await received()) >= known + count, { describe: () => "events are missing" })
    return count / ((performance.now() - before) / 1000)
  }
  await rate(events / 10)
  const before = await heap()
  const perSecond = await rate(events)
  const growth = (await heap()) - before
  process.stderr.write(`received ${await received()}, heap grew by ${(growth / mebibyte).toFixed(1)} MiB\n`)
  return {
    first_content_ms: median(first),
    live_events_per_s: perSecond,
    heap_growth_mb: growth / mebibyte
  }
}
