export function slug(title) {
  const plain = title.normalize("NFD").replace(/[\u0300-\u036f]/g, "");
  return plain.trim().toLowerCase().replace(/\s+/g, "-");
}
