// Pictures of the page to keep, and how far another is from one that was kept.
//
// Fonts differ between machines, and every letter with them; so a picture is compared as a grid of the
// average colours of its tiles, which a missing card, a wrong colour or a moved column changes.

const TILES = [24, 16];
const FAR = 12; // of 255, in the mean of red, green and blue: this tile looks different

/** A small picture of a PNG (a Buffer), as a Buffer. `page` is any page of the browser. */
export async function shrunk(page, png) {
  const url = await page.evaluate(async (data) => {
    const image = await createImageBitmap(await (await fetch(data)).blob());
    const canvas = new OffscreenCanvas(image.width / 2, image.height / 2);
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.5 });
    return btoa(String.fromCharCode(...new Uint8Array(await blob.arrayBuffer())));
  }, data("png", png));
  return Buffer.from(url, "base64");
}

/** The share of tiles that look different, between 0 and 1. */
export function distance(page, one, other) {
  return page.evaluate(async ([urls, [columns, rows], far]) => {
    const grids = await Promise.all(urls.map(async (url) => {
      const image = await createImageBitmap(await (await fetch(url)).blob());
      const context = new OffscreenCanvas(columns, rows).getContext("2d");
      context.imageSmoothingQuality = "high";
      context.drawImage(image, 0, 0, columns, rows);
      return context.getImageData(0, 0, columns, rows).data;
    }));
    let different = 0;
    for (let at = 0; at < grids[0].length; at += 4) {
      let sum = 0;
      for (let part = at; part < at + 3; part += 1) sum += Math.abs(grids[0][part] - grids[1][part]);
      if (sum / 3 > far) different += 1;
    }
    return different / (columns * rows);
  }, [[data("webp", one), data("webp", other)], TILES, FAR]);
}

function data(type, bytes) {
  return `data:image/${type};base64,${bytes.toString("base64")}`;
}
