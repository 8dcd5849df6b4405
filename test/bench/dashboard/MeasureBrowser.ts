/**
 * The dashboard in a browser, over a service with a million runs: its first content, the frames per second of a list that is scrolled, and how many live
 * events a page takes in, with 50 running reviews and a list in view.
 */
import type { Page } from "playwright-core"
import { AdminSession } from "../../harness/AdminSession.ts"
import { TestBrowser } from "../../harness/Browser.ts"
import { EventProxy } from "../../harness/EventProxy.ts"
import type { Installation } from "../../harness/Installation.ts"
import { measureHour } from "./MeasureHour.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { median } from "../Median.ts"

const loads = 9
const events = 100_000

const mebibyte = 1024 * 1024

const scrollSeconds = 8
/** Distance that a frame scrolls: about a hundred rows per second. */
const scrollPixels = 60

/** Scrolls the list in view, while events arrive, and returns the frames per second. */
const measureFrames = async (page: Page, proxy: EventProxy): Promise<number> => {
  await page.locator("[data-index='0']").waitFor()
  const frames = page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector(".list")
    let [first, count] = [undefined, 0]
    const frame = (at) => {
      first ??= at
      count += 1
      list.scrollTop += ${scrollPixels}
      if (at - first < ${scrollSeconds * 1000}) requestAnimationFrame(frame)
      else resolve({ rate: ((count - 1) / (at - first)) * 1000, top: list.scrollTop })
    }
    requestAnimationFrame(frame)
  })`)
  // Events of 50 running reviews, of each one several per second.
  for (let sent = 0; sent < scrollSeconds * 4; sent++) {
    await proxy.send(50)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  const { rate, top } = Object(await frames)
  process.stderr.write(
    `scrolled ${Math.round(Number(top) / 37)} rows at ${Number(rate).toFixed(1)} frames per second\n`
  )
  return Number(rate)
}

export const measureBrowser = async (at: Installation): Promise<Readonly<Record<string, number>>> => {
  await at.aicr.start()
  const admin = await AdminSession.open(at.aicr.url)
  await using proxy = await EventProxy.start(at.aicr.url)
  await using browser = await TestBrowser.start()
  const context = await browser.signedIn(admin.token)
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
  const fps = await measureFrames(page, proxy)
  await page.evaluate(`document.querySelector(".list").scrollTop = 0`)
  await rate(events / 10)
  const before = await heap()
  const perSecond = await rate(events)
  const growth = (await heap()) - before
  process.stderr.write(`received ${await received()}, heap grew by ${(growth / mebibyte).toFixed(1)} MiB\n`)
  await page.close()
  const [run] = await admin.items("/runs?limit=1")
  const id = String(run?.["id"])
  const hours: Array<number> = []
  for (const path of ["/", "/runs", `/runs/${id}`]) hours.push(await measureHour(context, proxy, path, id))
  return {
    first_content_ms: median(first),
    live_events_per_s: perSecond,
    fps,
    heap_growth_mb: growth / mebibyte,
    hour_heap_growth_mb: Math.max(...hours)
  }
}
