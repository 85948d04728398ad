// The dialog of a file picker offers the endings in its classes (demos/widgets/file_picker/file_picker.py says why): they
// are set when the dialog opens, because gradio redraws the picker after each file.
document.addEventListener(
  "click",
  (event) => {
    const picker = event.target.closest?.(".file-picker");
    const endings = [...(picker?.classList ?? [])].filter((name) => name.startsWith("reads-"));
    for (const input of picker?.querySelectorAll("input[type=file]") ?? []) {
      input.accept = endings.map((name) => name.replace("reads-", ".")).join(",");
    }
  },
  true,
);
