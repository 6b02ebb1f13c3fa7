package enum ImageType { case png; package var suffix: String { "png" }; package var mediaType: String { "image/png" } }
package enum ImageRejection: Error { case x; package var code: String { "" } }
package struct ImageLimits: Sendable { package init(maxSide: Int, maxPixels: Int) {} }
package struct ImageInfo { package var type: ImageType; package var width = 0; package var height = 0 }
package struct ImageInspector: Sendable { package init(limits: ImageLimits) {} ; package func inspect(_ b: RawSpan) throws(ImageRejection) -> ImageInfo { .init(type: .png) } }
