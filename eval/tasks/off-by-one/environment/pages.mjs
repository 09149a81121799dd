export function pageCount(items, size) {
  return Math.floor(items / size);
}

export function page(list, number, size) {
  return list.slice((number - 1) * size, number * size);
}
